"""The commands of hm, one file for each group. Shared parts are in the folder above."""

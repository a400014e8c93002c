"""The commands of hm, one file a group. What they share lies in the folder above."""

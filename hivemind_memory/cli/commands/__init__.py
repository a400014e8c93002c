"""The commands of ``hm``: one file a group, with its options, calls and output."""

"""The middle: all that is derived from notes and can be made again."""

"""The middle: a question to hits. Pure: nothing here reads a file or a clock."""

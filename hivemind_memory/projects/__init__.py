"""Which project a folder belongs to, and its folder of notes. Moves no note."""

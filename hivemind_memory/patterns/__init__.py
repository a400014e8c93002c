"""Regular expressions: when they are compiled, and what is kept. Not what they find."""

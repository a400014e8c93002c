"""The command line: words to one call, result to text. Decides nothing itself."""

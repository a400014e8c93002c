"""The command line: parses words, makes one call, prints the result. No rules here."""

"""Plain values and ports, in the words of docs/glossary.md. Nothing here does I/O."""

"""Chooses which memories a section shows. Reads the memory and writes nothing."""

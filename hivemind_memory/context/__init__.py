"""Chooses what to tell an agent. Reads the memory and writes nothing."""

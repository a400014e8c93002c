"""Registers the server with the agents on this machine, and unregisters it."""

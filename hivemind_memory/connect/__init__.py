"""Registers the server with the agents of this machine, and takes that back."""

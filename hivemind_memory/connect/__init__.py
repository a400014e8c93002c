"""Registers the server in the settings of agents. Starts no agent: see launch."""

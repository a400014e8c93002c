"""Clients and agents that nobody here wrote, run against `hm mcp` and `hm inject`."""

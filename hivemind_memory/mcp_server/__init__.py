"""Serves the memory to agents as tools, by stdio and HTTP. Decides nothing itself."""

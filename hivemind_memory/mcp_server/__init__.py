"""Serves the memory to agents over the Model Context Protocol."""

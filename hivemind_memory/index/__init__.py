"""The port of the index, the one import for all outside. SQL lies in sqlite below."""

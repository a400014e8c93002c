"""Computes vectors of texts with the chosen provider. Stores none: see index."""

"""Texts to vectors, by the provider that was chosen. Keeps none: see index."""

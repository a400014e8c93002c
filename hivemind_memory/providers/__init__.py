"""The ground: texts to vectors, through a provider that was chosen."""

"""Turns texts into vectors through the provider that the settings choose."""

"""Secrets in text: found, replaced, and all else left alone."""

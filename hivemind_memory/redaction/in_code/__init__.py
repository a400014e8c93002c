"""Finds secrets in code, configuration and command lines. Sentences are beside it."""

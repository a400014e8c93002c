"""Puts a section into an agent's file. Which memories it shows: see context."""

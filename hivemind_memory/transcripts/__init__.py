"""Transcripts of agents, searched by words: readers, their derived file, no notes."""

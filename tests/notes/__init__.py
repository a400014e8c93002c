"""Tests of the ground: files, entries and chunks."""

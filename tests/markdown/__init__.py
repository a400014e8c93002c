"""Tests of markdown."""

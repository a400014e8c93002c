"""Tests of the room that turns texts into vectors."""

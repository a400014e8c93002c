"""Starts an agent: finds the worktree, injects memories, opens a session."""

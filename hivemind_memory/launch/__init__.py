"""Starts agents: worktree, memories, session, in this order."""

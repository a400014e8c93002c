"""Starts agents in worktrees and tmux. Their settings: see connect."""

"""Runs git: repositories, worktrees, hooks. Which project they are: projects."""

"""Runs git: repositories, worktrees, hooks. Which project they belong to: projects."""

"""Memories as platforms of agents ask for them: namespaces, workspaces. No HTTP."""

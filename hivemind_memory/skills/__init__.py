"""Skills: memories as files for agents. Which memory may be one: ``curation``."""

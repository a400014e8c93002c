"""Git by process: repositories, projects and hooks."""

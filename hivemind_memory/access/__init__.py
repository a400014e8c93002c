"""From what a door was opened with to the caller that it stands for."""

"""Values and ports that all packages share. No file, no clock, no network."""

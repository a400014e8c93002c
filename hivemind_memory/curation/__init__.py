"""What curating is made of: typed memories saved, replaced, related, forgotten."""

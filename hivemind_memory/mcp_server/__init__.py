"""The door for agents: the memory over the Model Context Protocol."""

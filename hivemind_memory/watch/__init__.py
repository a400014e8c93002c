"""A room: keeps the index in step with the folder while people edit it."""

"""Serves programs over HTTP: routes, their schemas, and the frame that runs them."""

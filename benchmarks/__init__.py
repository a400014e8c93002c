"""Programs that measure: run them from the project's folder with ``python -m``."""

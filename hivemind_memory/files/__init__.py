"""Reads, replaces, locks and scans files safely. Knows no meaning of their bytes."""

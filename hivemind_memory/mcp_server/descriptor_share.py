"""Divides the descriptors that a process may open between clients and its own work."""

from __future__ import annotations


def descriptor_share(most: int, part: float) -> int:
    """Return *most*, or less: as many as some part of this process's limit allows.

    Args:
        most: However many the process may open.
        part: Of the limit, between 0 and 1.

    >>> descriptor_share(1, 0.25)
    1
    """
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return most
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limit == resource.RLIM_INFINITY:
        return most
    return max(1, min(most, int(limit * part)))

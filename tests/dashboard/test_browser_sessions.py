"""Sessions of browsers: what one token begins ends no session of another reader."""

from __future__ import annotations

from hivemind_memory.dashboard.sessions import Sessions


def test_logins_with_a_token_log_nobody_else_out() -> None:
    """One that only reads logged the owner out: the oldest of all sessions ended."""
    sessions = Sessions("own", None, now_s=lambda: 0.0)
    link = sessions.follow(sessions.new_link())
    begun = [sessions.log_in("own") for _ in range(1001)]
    first, last = begun[0], begun[-1]
    assert link is not None
    assert first is not None
    assert last is not None
    assert sessions.find(link.secret) is not None
    assert sessions.find(first.secret) is None
    assert sessions.find(last.secret) is not None

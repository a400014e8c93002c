"""The page of a session names what it left, and what of it waits in the inbox."""

from __future__ import annotations

from tests.dashboard.reader import Reader
from tests.http_api.served import Served, add_token, save


def test_a_session_links_to_its_claims_in_the_inbox(served: Served) -> None:
    """What a capture proposes waits there; a reader of other scopes sees neither."""
    save("lion", "It sleeps.", "project/shop", session="5e55a", is_proposal=True)

    with Reader(served) as owner:
        owner.follow_link()
        shown = owner.page("/sessions?session=5e55a").text
        assert ">1 claim of this session in the inbox</a>" in shown
        assert "lion" in owner.page("/inbox").text
    with Reader(served) as ci:
        ci.log_in(add_token("ci", project="site"))
        assert ci.page("/sessions?session=5e55a").status_code == 404

"""A browser sends the cookies of every server on a machine to each of them."""

from __future__ import annotations

import httpx
import pytest

from tests.dashboard.reader import Reader


def test_a_page_of_another_port_ends_no_session(reader: Reader) -> None:
    """Two dashboards had one cookie, and logging in to one logged out of the other."""
    [name] = reader.client.cookies.keys()
    port = reader.served.url.rpartition(":")[2]
    assert name == f"hm_session_{port}"


@pytest.mark.parametrize(
    "other",
    [
        'settings={"columns": [1, 2]}',
        "a[b]=c",
        "no value",
        "=",
        "name=with space, and comma",
        'quoted="half',
        "later={hm_session}=wrong",
    ],
)
def test_a_cookie_of_another_program_ends_no_session(
    reader: Reader, other: str
) -> None:
    """One that is not as the standard has it hid all others: no login worked."""
    own = "; ".join(f"{name}={value}" for name, value in reader.client.cookies.items())
    for cookies in (f"{other}; {own}", f"{own}; {other}"):
        headers = {"Cookie": cookies}
        answer = httpx.get(
            f"{reader.served.url}/memory", headers=headers, trust_env=False
        )
        assert answer.status_code == 200, cookies


def test_of_two_cookies_of_one_name_the_nearer_one_counts(reader: Reader) -> None:
    """Browsers send the one with the longer path first."""
    [(name, value)] = reader.client.cookies.items()
    headers = {"Cookie": f"{name}={value}; {name}=forged"}
    answer = httpx.get(f"{reader.served.url}/memory", headers=headers, trust_env=False)
    assert answer.status_code == 200


@pytest.mark.parametrize("path", ["", "/events", "/static/dashboard.js"])
def test_a_page_of_another_origin_loads_nothing(reader: Reader, path: str) -> None:
    """A server on another port is of the same site: the cookie is sent along."""
    for site, mode, status in (
        *((site, "no-cors", 403) for site in ("cross-site", "same-site")),
        *((site, "cors", 403) for site in ("cross-site", "same-site")),
        *((site, "navigate", 200) for site in ("cross-site", "same-site", "none")),
        ("same-origin", "cors", 200),
    ):
        headers = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode}
        with reader.client.stream("GET", f"/memory{path}", headers=headers) as answer:
            assert answer.status_code == status, (site, mode)
            if path != "/events":
                policy = answer.headers["cross-origin-resource-policy"]
                assert policy == "same-origin"

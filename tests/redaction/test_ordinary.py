"""Ordinary lines that look a little like a secret, and their siblings that hold one."""

from __future__ import annotations

from pathlib import Path

import pytest

from hivemind_memory.redaction import find_secrets, scrub

CODES_NOBODY_ASKS_FOR = (
    "A new code path needs a flag.\nRollout began with build 4412345 on 20261122.",
    "What does error code E7 mean?\nSee ticket 1029384.",
    "Which unicode version?\n150000 characters",
    "Does the barcode scanner need power?\nEAN 40123455",
    "decode asks for more\nsize 1048576",
    "Which login service is slow?\nTicket 1029384 has the trace",
    "The wifi driver needs a reboot.\nkernel 6412345",
    "What is the access code?\nticket: 1029384",
    "Who reviews the code for the parser?\n1048576",
    "When does the access code expire, please?\n20261122",
)
NUMBERS_OF_NO_LOCK = (
    "Team meeting: we pinned the shipping date to 2027.",
    "Conference shipping deadline is 2027",
    "JSON encoder for meeting ids: 1024 per page",
    "tablet layout: spinner width is 1024",
    "router port mapping: 8080",
    "wildcard code path: 4096 entries",
    "Card mapping -> 2048",
    "We investigate the code: 4096 of them fail",
    "unsafe code is 4012 lines",
    "The alarm service answers with status code: 5031",
    "Meeting on code review is 2027",
    "The router drops the error code: 40123",
    "router.error_code: 40123",
    "fire alarm: 2024, LED_PIN=GPIO17",
    "tablet: postal code 40210",
    "building the code: 5512 ms",
    "Meeting: we moved the code freeze to 2026",
    "requirepass 6.2.1 and later",
    "discard the pinned card: 5512",
    "microphone opcode is 4012",
    "alarm: 5000 rps",
    "alarm: 1000000 rows for p99",
    "safe: 2024 release",
    "fire alarm: 2024",
    "alarm: 4096",
)
PINS_OF_A_BOARD = (
    "LED_PIN=GPIO17 on the board1",
    "DHT22 wiring: PIN=GPIO04, VCC=3V3",
    "pip install --pin=py39",
    "RESET_PIN=PA_12",
)
LISTS_OF_OTHER_THINGS = (
    "## Login service\n- model: Llama31\n- image: keycloak26\n- bucket: backups2025",
    "Logins per service:\n- table: sessions2024\n- image: keycloak26",
    "The login page uses\n- image: keycloak26\n- bucket: backups2025",
    "Passwords are hashed in:\n- image: keycloak26\n- table: sessions2024",
    "Which login service is slow?\nmodel: keycloak2024",
    "The wifi driver needs a reboot.\nmodel: iwlwifi2024",
    "Password service\n- image: keycloak26\n- table: sessions2024",
)
FILES_OF_OTHER_THINGS = (
    "echo BUILD42done > keymap.txt",
    "echo 'hello-world1' > tokens.md",
    "echo step-1-passed >> passed.log",
    "echo BUILD42done > monkey.txt",
    "echo 'run-2-done' > tokenizer.json",
    "echo 'run-2-done' | tee bypass.log",
    "echo 'export const a = 1' > src/tokens.ts",
)
DEFAULTS_AT_HOME = (
    "postgres://shop:shop@localhost:5432/x",
    "amqp://guest:guest@127.0.0.1/",
    "mongodb://app_test:app_test@localhost",
    "The tests use postgres://shop:shop@localhost.",
)
STATISTICS = (
    "_ga", "_ga_4XK2P9QZ1M", "_gid", "_gat_gtag_UA_1", "_gcl_au", "_fbp",
    "_hjSessionUser_1", "_pk_id.1.2fd", "__utma", "_clck", "_uetsid", "hubspotutk",
    "ajs_anonymous_id", "_dd_s", "_scid_r", "MUID",
)  # fmt: skip
SESSIONS = (
    "_gateway_session", "_garden_session", "_gallery_session", "_dd_session",
    "muid_session", "_ga_admin_session", "mp_session", "_scid_session", "_tt_session",
)  # fmt: skip
COOKIE = "q7Zp2LxV9rTb4Nw8Kd3Hs6Yc"
LINES = (
    Path(__file__)
    .with_name("ordinary_lines.txt")
    .read_text(encoding="utf-8")
    .splitlines()
)
HELD = (
    ("registrar wants the login code for the transfer\nboss: it says {}, go", "578270"),
    ("[10:02] kim: what is the door code?\n[10:03] bo: {}", "481920"),
    ("bank asks for the verification code\n{}", "918273"),
    ("2FA code please\n> {}", "918273"),
    ("wifi password?\n{}", "48192073"),
    ("The code for the front door?\nbo: it's {}", "481920"),
    ("The PIN of the card is {}", "4821"),
    ("Türcode: {}", "481920"),
    ("Die PIN der Kreditkarte ist {}", "4821"),
    ("Code der Kellertür: {}", "481920"),
    ("garage code: {}", "2024"),
    ("meeting passcode: {}", "2048"),
    ("safe: {}", "481920"),
    ("alarm: {} (then arm)", "4821"),
    ("docker run -e ADMIN_PIN={} shop/web", "48192073"),
    ("slot pin={}", "Winter-Fox!44"),
    ("Passwords:\n- anna: {}\n- bob: see him", "sommer2024"),
    ("Logins\n- anna: {}", "Winter-Fox!44"),
    ("echo {} > ~/.vault_pass.txt", "sommer2024"),
    ("echo '{}' > /run/secrets/db", "sommer2024"),
    ("echo '{}' | sudo tee /etc/apikey", "sommer2024x"),
    ("echo '{}' > token.txt", "hello-world1"),
    ("postgres://shop:{}@localhost.prod.example.com/x", "shop"),
    ("postgres://Tr0ub4dor99:{}@localhost", "Tr0ub4dor99"),
    ("mongodb://shop:{}@localhost:1,db.example.com:2/x", "shop"),
    ("redis.conf:\nrequirepass {}", "foo42"),
)


@pytest.mark.parametrize(
    "text",
    [
        *CODES_NOBODY_ASKS_FOR,
        *NUMBERS_OF_NO_LOCK,
        *PINS_OF_A_BOARD,
        *LISTS_OF_OTHER_THINGS,
        *FILES_OF_OTHER_THINGS,
        *DEFAULTS_AT_HOME,
    ],
)
def test_a_line_that_holds_no_secret_stays_as_it_is(text: str) -> None:
    """What is masked in a note is lost: part of a word, a year, a size is no sign."""
    assert find_secrets(text) == ()


@pytest.mark.parametrize(("text", "secret"), HELD)
def test_the_same_words_beside_a_secret_hide_it(text: str, secret: str) -> None:
    """A narrow rule still finds what it is for."""
    (value,) = [text.format("\0")]
    at = value.index("\0")

    spans = [(one.start, one.end) for one in find_secrets(text.format(secret))]

    assert any(start <= at and at + len(secret) <= end for start, end in spans)


@pytest.mark.parametrize("name", STATISTICS)
def test_a_cookie_that_counts_visitors_stays(name: str) -> None:
    """Nobody signs in with it."""
    assert find_secrets(f"Cookie: {name}={COOKIE}") == ()


@pytest.mark.parametrize("name", SESSIONS)
@pytest.mark.parametrize(
    "line",
    [
        "Cookie: {}={}",
        "curl -H 'Cookie: {}={}' https://x.io",
        "Set-Cookie: {}={}; Path=/",
    ],
)
def test_a_session_is_hidden_although_its_name_begins_like_a_counter(
    line: str, name: str
) -> None:
    """``_gateway_session`` is not ``_ga``."""
    assert COOKIE not in scrub(line.format(name, COOKIE)).text


@pytest.mark.parametrize("line", LINES)
def test_a_line_that_only_speaks_of_a_secret_stays(line: str) -> None:
    """Rules, versions, numbers, names of things and postal codes, in many languages."""
    assert find_secrets(f"Notes.\n\n{line}\n\nNothing else.\n") == ()

"""Where secrets are found, and where not: one case a line."""

from __future__ import annotations

import base64

import pytest

from hivemind_memory.redaction import find_secrets, mask, scrub

# Parts, so that no scanner takes this file for a leak.
GITHUB = "ghp" + "_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"
AWS = "AK" + "IA" + "Q3EGRD5ZK7MXW2PL"
RANDOM = "q7Zp2LxV9rTb4Nw8Kd3Y"
EDGE = "-" * 5
BODY = "MIIEowIBAAKCAQEAx3yq0Lk9bVn2\nq7Zp2LxV9rTb4Nw8Kd3YaaBBccDD"
LABEL = "RSA PRIVATE " + "KEY"
KEY = f"{EDGE}BEGIN {LABEL}{EDGE}\n{BODY}\n{EDGE}END {LABEL}{EDGE}"


@pytest.mark.parametrize("escape", ["&amp;", "&lt;", "&gt;", "&#62;", "\\u003e"])
def test_a_secret_with_any_escaped_character_is_replaced(escape: str) -> None:
    """Each escape that is read is one of those that are looked for."""
    assert scrub(f"token v4CHG{escape}AuBm9").text == "token [redacted:password]"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"GITHUB_TOKEN={GITHUB}", "GITHUB_TOKEN=[redacted:github-pat]"),
        (f"({GITHUB})", "([redacted:github-pat])"),
        (f"`{GITHUB}`.", "`[redacted:github-pat]`."),
        (f"令牌{GITHUB}。", "令牌[redacted:github-pat]。"),
        (f"a%3D{GITHUB}%26b", "a%3D[redacted:github-pat]%26b"),
        (f'"A=1\\n{AWS}\\n"', '"A=1\\n[redacted:aws-access-token]\\n"'),
        (f"\x1b[31m{AWS}\x1b[0m", "\x1b[31m[redacted:aws-access-token]\x1b[0m"),
        (
            "postgres://me:tr0ub4d@db/app",
            "postgres://me:[redacted:url-password]@db/app",
        ),
        ("redis://:tr0ub4d@db:6379", "redis://:[redacted:url-password]@db:6379"),
        ("https://a:b/c9?d@host/x", "https://a:[redacted:url-password]@host/x"),
        (f"Bearer {RANDOM}", "Bearer [redacted:bearer-token]"),
        (f"authorization: token {RANDOM}", "authorization: token [redacted:secret]"),
        ("password: hunter2", "password: [redacted:password]"),
        ("the password is hunter2.", "the password is [redacted:password]."),
        ("**Password:** `Xy7#kk2pQ`", "**Password:** `[redacted:password]`"),
        ("| password | Xy7#kk2pQ |", "| password | [redacted:password] |"),
        ("密码：Xy7#kk2pQ", "密码：[redacted:password]"),
        ("--password hunter22 -v", "--password [redacted:password] -v"),
        (f"API key for the shop: {RANDOM}", "API key for the shop: [redacted:secret]"),
        (f'config["token"] = "{RANDOM}"', 'config["token"] = "[redacted:secret]"'),
        (f'\\"api_key\\": \\"{RANDOM}\\"', '\\"api_key\\": \\"[redacted:secret]\\"'),
        ("password:\n  Xy7#kk2pQ\nafter", "password:\n  [redacted:password]\nafter"),
        (f"the token {RANDOM} expired", "the token [redacted:secret] expired"),
        (f"token = env.KEY || '{RANDOM}';", "token = env.KEY || '[redacted:secret]';"),
        (f'set_secret("shop", "{RANDOM}")', 'set_secret("shop", "[redacted:secret]")'),
        ("pw: Xy7#kk2pQ", "pw: [redacted:password]"),
        ("mysql -u a -pXy7kk2pQ b", "mysql -u a -p[redacted:password] b"),
        ("curl -u me:s3cr3tX https://x", "curl -u me:[redacted:password] https://x"),
    ],
)
def test_a_secret_is_replaced_and_nothing_beside_it(text: str, expected: str) -> None:
    """Quotes, brackets, other scripts, escapes and prose are where people put them."""
    scrubbed = scrub(text)

    # Some are found in two ways; the name of either is right.
    kinds = {"bearer-token", "authorization", "secret"}
    shown = scrubbed.text
    for kind in kinds:
        shown = shown.replace(f"[redacted:{kind}]", "[x]")
        expected = expected.replace(f"[redacted:{kind}]", "[x]")
    assert shown == expected


# In parts, so that no scanner of repositories takes them for real.
@pytest.mark.parametrize(
    "value",
    [
        "xoxb-" + "123456789012-1234567890123-7f2m7UlPA54oaMQzRDSjzQS7",
        "sk-ant-" + "api03-AbCdEfGhq7Zp2LxV9rTb4Nw8u3KfJm6Yc0123456789WsXe5Rd-AA",
    ],
)
def test_a_sequence_in_a_token_that_its_beginning_gives_away_is_no_excuse(
    value: str,
) -> None:
    """Only a token of sequences alone is an example."""
    assert value not in mask(f"it is {value}")


@pytest.mark.parametrize(
    "text",
    [
        "xoxb-" + "123456789012-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx",
        "sk-ant-" + "api03-1234567890abcdefYOURKEYHERE1234567890",
        "ghp_" + "1234567890abcdefghijklmnopqrstuvwxyz",
        "password: <your password>",
        "password = input('Password: ')",
        "token = get_token()",
        "api_key=$TOKEN",
        "API_KEY=${API_KEY}",
        "export OPENAI_API_KEY=sk-...",
        "sk-xxxxxxxxxxxxxxxxxxxxxxxx",
        "AKIA" + "IOSFODNN7EXAMPLE",
        "commit 3f786850e387550fdab836ed7e6dc881de23001b",
        "fixed in 3f78685",
        "secret scanning was fixed in: 3f786850e387550fdab836ed7e6dc881de23001b",
        "id: 0b9c2c6e-9f57-4d0c-8b76-1f4f8b2f1a77",
        "key: 01HV6Q3X7K8Z9M2N4P5R6S7T8V",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        f"data:image/png;base64,{base64.b64encode(bytes(range(256))).decode()}",
        "max_tokens: 4096",
        "password_file: /run/secrets/db_password",
        "https://localhost:8080/@scope/pkg",
        "postgres://user:password@host/db",
        "Authorization: Bearer <token>",
        "passwords are hashed with argon2id",
        "password: vault:secret/data/app#password",
        f"look for {EDGE}BEGIN PRIVATE {'KEY'}{EDGE} in files",
        "[redacted:api-key]: Abc123def456ghi789jkl",
    ],
)
def test_what_only_speaks_of_secrets_is_left_alone(text: str) -> None:
    """A memory of code that masks its own examples is of no use."""
    assert find_secrets(text) == ()
    assert mask(text) == text


@pytest.mark.parametrize(
    "text",
    [
        f"before\n{KEY}\nafter",
        f"before\r\n{KEY}\r\nafter".replace("\n", "\r\n").replace("\r\r", "\r"),
        "before\n" + "\n".join("    " + line for line in KEY.split("\n")) + "\nafter",
        "before\n" + "\n".join("> " + line for line in KEY.split("\n")) + "\nafter",
        f"before\n{KEY.rpartition(chr(10))[0]}\nafter, in words",
        f"before, in words:\n\n{KEY.partition(chr(10))[2]}\nafter",
        'before\n{"key": "' + KEY.replace("\n", "\\n") + '"}\nafter',
    ],
)
def test_a_private_key_goes_whole_and_keeps_its_lines(text: str) -> None:
    """Also indented, quoted, in JSON, and with its first or last part cut off."""
    scrubbed = scrub(text)

    assert scrubbed.found == ("private-key",)
    assert "MIIE" not in scrubbed.text
    assert "aaBBcc" not in scrubbed.text
    assert scrubbed.text.count("\n") == text.count("\n")
    assert scrubbed.text.startswith("before")
    assert scrubbed.text.split("\n")[-1].startswith(("after", '"}'))


def test_certificates_and_public_keys_stay() -> None:
    """They are made to be shown."""
    for label in ("CERTIFICATE", "PUBLIC KEY", "RSA PUBLIC KEY"):
        block = f"{EDGE}BEGIN {label}{EDGE}\n{BODY}\n{EDGE}END {label}{EDGE}"

        assert find_secrets(block) == ()


def test_known_values_are_found_however_they_are_written() -> None:
    """A vault knows what no rule can."""
    value = 'plain "words" & ü'

    forms = (
        value,
        'plain \\"words\\" & ü',
        "plain%20%22words%22%20%26%20%C3%BC",
        base64.b64encode(value.encode()).decode(),
    )

    for form in forms:
        assert mask(f"x {form} y", [value]).startswith("x [redacted:vault-value]")
    assert mask("a cat", ["cat", "", "  "]) == "a cat"
    assert mask("[redacted:password]", ["redacted"]) == "[redacted:password]"


def test_offsets_count_letters_also_where_lower_case_is_longer() -> None:
    """``İ`` becomes two letters in lower case; what follows must not shift."""
    text = f"İİİ 🐝 PASSWORD='{RANDOM}' İ"

    [secret] = find_secrets(text)

    assert text[secret.start : secret.end] == RANDOM


def test_the_rule_with_a_name_of_its_own_wins_over_the_assignment() -> None:
    """The agent is told which key it has nearly given away."""
    assert scrub(f"password: {GITHUB}").found == ("github-pat",)


def test_a_static_key_of_openvpn_is_found_as_a_whole() -> None:
    """Its label says neither PRIVATE nor KEY in capitals."""
    label = "OpenVPN Static key V1"
    lines = "\n".join(f"{number:032x}" for number in range(7**40, 7**40 + 16))
    block = f"{EDGE}BEGIN {label}{EDGE}\n{lines}\n{EDGE}END {label}{EDGE}"

    scrubbed = scrub(f"<tls-auth>\n{block}\n</tls-auth>").text
    assert scrubbed.split() == ["<tls-auth>", "[redacted:private-key]", "</tls-auth>"]
    assert find_secrets(f"A block begins with {EDGE}BEGIN {label}{EDGE}.") == ()

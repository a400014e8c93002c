"""Secrets that their surroundings give away, and lines that only look like it."""

from __future__ import annotations

import base64
import random
from collections.abc import Callable

import pytest

from hivemind_memory.redaction import find_secrets, scrub
from tests.redaction.samples import ALNUM, DIGITS, HEX, LOWER, URLSAFE, Maker, is_left

WORDS = (  # noqa: SIM905
    "abandon ability able about absent absorb abstract absurd abuse access accident"
    " account accuse achieve acid acoustic acquire across act action actor actress"
).split()
BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
EACH = 20


def github(make: Maker) -> str:
    """A token that a rule knows."""
    return "gh" + "p_" + make.of(ALNUM, 36)


def encoded(text: str) -> str:
    """Text as base64."""
    return base64.b64encode(text.encode()).decode()


def key_body(make: Maker) -> str:
    """The lines of a private key without its first and last."""
    body = "MIIEvQIBADAN" + make.base64(600)[12:]
    return "\n".join(body[at : at + 64] for at in range(0, len(body), 64))


def split(token: str) -> str:
    """A token with a character inside that is not seen."""
    return f"{token[:12]}\u200b{token[12:]}"


def codes(make: Maker) -> str:
    """A list of recovery codes."""
    return "\n".join(f"- {make.of(LOWER, 5)}-{make.of(LOWER, 5)}" for _ in range(6))


def phrase(make: Maker) -> str:
    """A seed phrase of a wallet."""
    return " ".join(make.rng.choices(WORDS, k=make.rng.choice([12, 24])))


Make = Callable[[Maker], str]
FORMS: dict[str, tuple[Make, str]] = {
    "odd suffix": (lambda m: m.of(ALNUM, 40), "export GITHUB_PAT={s}"),
    "appid": (lambda m: m.of(HEX, 32), "https://api.example.org/data?q=Rome&appid={s}"),
    "pgpass": (lambda m: m.password() + "x9", "db.internal:5432:shop:anna:{s}"),
    "kubernetes": (
        lambda m: encoded(m.password()),
        "kind: Secret\nmetadata:\n  name: db\ndata:\n  value: {s}\n",
    ),
    "key body": (key_body, "the key:\n{s}"),
    "HCL default": (
        Maker.password,
        'variable "db_password" {{\n  type = string\n  default = "{s}"\n}}',
    ),
    "table": (Maker.password, "| user | password |\n| --- | --- |\n| anna | {s} |"),
    "CSV": (Maker.password, "user,password,role\nanna,{s},admin"),
    "login": (lambda m: m.password() + "7", "login: anna / {s}"),
    "SQL": (Maker.password, "CREATE USER 'app'@'%' IDENTIFIED BY '{s}';"),
    "-w": (Maker.password, "ldapsearch -x -D cn=admin -w {s} -b dc=x"),
    "psk": (lambda m: m.password() + "abc1", 'ssid="home"\npsk="{s}"'),
    "base64": (lambda m: encoded(github(m)), "It is stored as {s} in the file."),
    "zero width": (lambda m: split(github(m)), "use {s} now"),
    "PASETO": (lambda m: "v4.lo" + "cal." + m.of(URLSAFE, 80), "send {s} with it"),
    "seed phrase": (phrase, "The wallet's recovery phrase is:\n\n{s}\n"),
    "WIF": (lambda m: "K" + m.of(BASE58, 51), "spend with {s} only"),
    "below a heading": (Maker.password, "## Password\n\n{s}\n\nThe next section."),
    "below a label": (lambda m: m.of(ALNUM, 32), "API key\n{s}\n"),
    "recovery codes": (codes, "Recovery codes for GitHub:\n\n{s}"),
    "backup codes": (
        lambda m: " ".join(m.of(DIGITS, 8) for _ in range(6)),
        "backup codes: {s}",
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_secret_is_found_by_its_surroundings(form: str) -> None:
    """Each of these forms was once missed."""
    make = Maker(seed=3)
    secret, around = FORMS[form]

    left = [
        text
        for text in (around.format(s=secret(make)) for _ in range(EACH))
        if any(
            is_left(part, scrub(text).text)
            for part in secret_parts(text, around.split("{s}"))
        )
    ]

    assert len(left) <= EACH // 20, left[:3]


def secret_parts(text: str, around: list[str]) -> list[str]:
    """The lines of the secret in a text, without the marks of a list."""
    before, after = (one.replace("{{", "{").replace("}}", "}") for one in around)
    secret = text.removeprefix(before).removesuffix(after)
    if secret[0] == "-":
        return [line.removeprefix("- ") for line in secret.split("\n")]
    return secret.split("\n")


def harmless() -> list[str]:
    """Names of resources, public keys and fingerprints."""
    rng = random.Random(4)

    def b64(size: int) -> str:
        return base64.b64encode(rng.randbytes(size)).decode()

    def hexed(size: int) -> str:
        return rng.randbytes(size).hex()

    return [
        "secret: projects/123456789012/secrets/stripe-key/versions/latest",
        '"password": "projects/p1-x/secrets/db-pw-2/versions/7"',
        "DB_PASSWORD_SECRET=projects/acme-prod/secrets/db-password/versions/latest",
        "apiKey: arn:aws:secretsmanager:eu-west-1:1234:secret:prod/db-AbCdEf",
        "secretKeyRef: {name: db, key: password}",
        f"deploy key: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIK{b64(32)[:42]} ci@acme",
        f"PublicKey = {b64(32)}",
        f"wireguard public key: {b64(32)}",
        f"GPG key: {hexed(20).upper()}",
        f"Signing key: {hexed(20).upper()}",
        f"host key SHA256:{b64(32)[:43]}",
        f"key fingerprint SHA256:{b64(32)[:43]}",
        f"cosign public key: MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE{b64(64)}",
        f"BUILD_COMMIT={hexed(20)}",
        "CACHE_VERSION=v3-linux-x86_64-py311",
        "backup code runs at 10:00 and 11:00 each day",
        "login: anna / admin role",
        "Recovery codes are kept in 1Password, vault Team-Ops.",
        "Password\nSee the vault.",
        "| key | meaning |\n| --- | --- |\n| `token_ttl` | seconds a token lives |",
    ]


def test_resource_names_and_public_keys_are_left_alone() -> None:
    """They name a secret or verify with it, and open nothing."""
    assert [line for line in harmless() if find_secrets(line)] == []
    assert find_secrets("\n".join(harmless())) == ()


@pytest.mark.parametrize(
    "piece",
    [
        "user,password\n",
        "recovery codes 1a2b-3c4d\n",
        "Seed phrase: abc abd ",
        "## Password\n",
        "A_B=a",
    ],
)
def test_no_layout_takes_more_than_linear_time(piece: str) -> None:
    """A note may repeat anything; twice the text takes about twice the steps."""
    import sys

    def steps(size: int) -> int:
        count = 0

        def trace(*_: object) -> object:
            nonlocal count
            count += 1
            return trace

        text = (piece * (size // len(piece) + 1))[:size]
        before = sys.gettrace()
        sys.settrace(trace)  # type: ignore[arg-type]
        try:
            find_secrets(text)
        finally:
            sys.settrace(before)
        return count

    steps(100)  # what is loaded at the first use

    assert steps(8_000) < 3 * steps(4_000) + 1_000


@pytest.mark.parametrize(
    "setting",
    [
        "set -gx GITEA_DEPLOY_TKN {}",
        "SET SMTP_TKN {}",
        "setenv LM_AUTH_KEY_BASE {}",
        "ENV SECRET_KEY_BASE {}",
        "export GITEA_DEPLOY_TKN={}",
        "ENCRYPTION_SALT: {}",
    ],
)
def test_a_variable_that_is_set_with_a_blank_or_an_odd_suffix_is_hidden(
    setting: str,
) -> None:
    """Of hexadecimal digits, too: fish, csh and a Dockerfile need no equals sign."""
    secret = Maker(7).of(HEX, 40)

    assert secret not in scrub(setting.format(secret)).text


@pytest.mark.parametrize("owner", ["deployer pk", "signer", "mnemonic backup"])
def test_a_wallet_key_is_hidden_beside_each_word_that_labels_one(owner: str) -> None:
    """The first look at a text knows the words that the rule asks for."""
    secret = Maker(8).of(HEX, 64)

    assert secret not in scrub(f"{owner} 0x{secret}").text


def test_a_module_checksum_behind_a_path_with_a_login_is_left_alone() -> None:
    """A slash in its base64 does not make it a name and a password."""
    line = "github.com/acme/auth v1.4.2 h1:V3QnUNwrj81hnuUIkZJiaDQFFNSBU/sirqwDDn6Njfs="

    assert find_secrets(line) == ()


def test_a_hash_that_a_variable_with_a_blank_is_set_to_is_left_alone() -> None:
    """A name of no secret stays one."""
    digits = Maker(9).of(HEX, 40)

    assert find_secrets(f"ENV APP_COMMIT {digits}") == ()

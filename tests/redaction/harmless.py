"""Lines without a secret, of the kinds that look most like one; from a seed."""

from __future__ import annotations

import base64
import random
import string
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.redaction.samples import ALNUM, BASE64, HEX, Maker

ROOT = Path(__file__).parents[2]
NAMES = (  # noqa: SIM905
    "token password secret api_key access_token client_secret auth_token credentials "
    "private_key signing_key passphrase session_key db_password jwt_secret key"
).split()
WORDS = (  # noqa: SIM905
    "retry the index after rollback when search answers from memory and notes are read "
    "by agents in a worktree before merge so that nobody waits for vectors or a lock"
).split()
VALUES = (
    "get_token()", "input('Password: ')", "os.environ['API_KEY']", "settings.secret",
    "None", "null", "True", '""', "''", "<your password>", "<token>", "$TOKEN", "${API_KEY}",  # noqa: E501
    "{{ vault.password }}", "process.env.CLIENT_SECRET", "config.get('secret')",
    "getpass.getpass()", "your-api-key-here", "changeme", "********", "xxxxxxxx", "...",
    "self._token", "await fetch_token(client)", "args.password", "str", "string", "4096",  # noqa: E501
    "Optional[str] = None", "[REDACTED]", "[redacted:password]", "secrets.token_hex(32)",  # noqa: E501
    "/run/secrets/db_password", "./keys/server.pem", "example", "REPLACE_ME_please",
    "request.headers.get('X-Token')", "%(password)s", "$(cat /run/secret)", "os.getenv('X')",  # noqa: E501
    "required", "bcrypt", "sha256", "base64", "utf8", "HS256", "argon2id", "string[]",
    "vault:secret/data/app#password", "!vault |", "TODO", "hidden", "user_input", "lambda: x",  # noqa: E501
)  # fmt: skip
ASSIGNING = (
    "{n} = {v}", "{n}: {v}", '"{n}": "{v}",', "export {N}={v}", "--{d} {v}", "{N}={v}",
    "const {n} = {v};", "| {n} | {v} |", "def login({n}: str = {v}) -> None:", "- {n}: {v}",  # noqa: E501
    "`{n}` is {v}", "self.{n} = {v}", "{n}={v},", "<{n}>{v}</{n}>", "# {n}: {v}",
)  # fmt: skip


def _lines(make: Maker) -> tuple[Callable[[], str], ...]:
    """Return what makes a line of each kind."""
    rng, of = make.rng, make.of

    def words(most: int = 12) -> str:
        return " ".join(rng.choices(WORDS, k=rng.randint(3, most)))

    def name() -> str:
        return rng.choice(NAMES)

    def assigned() -> str:
        own = name()
        return rng.choice(ASSIGNING).format(
            n=own, N=own.upper(), d=own.replace("_", "-"), v=rng.choice(VALUES)
        )

    def sri(size: int, label: str) -> str:
        return f"{label}-{base64.b64encode(rng.randbytes(size)).decode()}"

    def picture() -> str:
        data = base64.b64encode(rng.randbytes(rng.randint(200, 900))).decode()
        return f"![shot](data:image/{rng.choice(['png', 'jpeg', 'gif'])};base64,{data})"

    ulid = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
    return (
        lambda: f"{of(HEX, 40)} {words()}",
        lambda: f"- {of(HEX, 7)} fix: {words()}",
        lambda: f"Merge commit '{of(HEX, 40)}' into main",
        lambda: f"reverted in {of(HEX, 12)}, see {of(HEX, 40)}.",
        lambda: f"commit: {of(HEX, 40)}",
        lambda: f"{of(HEX, 64)}  dist/app-{rng.randint(1, 9)}.{rng.randint(0, 30)}.tar.gz",  # noqa: E501
        lambda: f"    --hash=sha256:{of(HEX, 64)} \\",
        lambda: f'checksum = "{of(HEX, 64)}"',
        lambda: f'      "integrity": "{sri(64, "sha512")}",',
        lambda: f"  resolution: {{integrity: {sri(64, 'sha512')}}}",
        lambda: f"{name().split('_')[0]}pkg v1.2.{rng.randint(0, 99)} h1:{make.base64(32)}",  # noqa: E501
        lambda: f"id: {make.uuid()}",
        lambda: f'"request_id": "{make.uuid()}",',
        lambda: f"idempotency-key: {make.uuid()}",
        lambda: f"cache_key: v2-linux-{of(HEX, 64)}",
        lambda: f"ulid 01J{of(ulid, 23)} was saved",
        lambda: f'key: "01H{of(ulid, 23)}"',
        lambda: f"image: registry.example.org/app@sha256:{of(HEX, 64)}",
        lambda: f'etag: W/"{of(HEX, 32)}"',
        lambda: f"public_key: {make.base64(32)}",
        lambda: f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{of(BASE64, 43)} anna@laptop",
        lambda: f"password_hash: $2b$12${of(ALNUM + './', 53)}",
        picture,
        lambda: f'<img src="data:image/svg+xml;base64,{make.base64(300)}">',
        lambda: f"max_tokens: {rng.randint(1, 200000)}",
        lambda: f"tokens={rng.randint(1, 9999)} cost={rng.random():.4f} key={rng.randint(1, 99)}",  # noqa: E501
        lambda: f"The {name().replace('_', ' ')} is {words(6)}.",
        lambda: f"{words(5)}: the {name()} must be {words(4)}, {rng.randint(2, 30)} of them",  # noqa: E501
        lambda: f"token_count = len(tokens[{rng.randint(0, 9)}:])",
        lambda: f"see https://example.org/{of(HEX, 8)}?page={rng.randint(1, 9)}#key-{rng.randint(1, 9)}",  # noqa: E501
        lambda: f"git@github.com:org/{rng.choice(WORDS)}-{of(HEX, 6)}.git",
        lambda: f"http://localhost:{rng.randint(1024, 65535)}/@scope/pkg@{rng.randint(1, 9)}.0.1",  # noqa: E501
        lambda: f"postgres://{rng.choice(['user:password', 'app:${PW}', 'u:<password>'])}@db/app",  # noqa: E501
        lambda: "Authorization: Bearer " + rng.choice(["<token>", "$TOKEN", "${{ secrets.T }}"]),  # noqa: E501
        lambda: f"sk-{'x' * rng.randint(8, 40)}",
        lambda: "AKIA" + "IOSFODNN7" + "EXAMPLE is the one of the manual",
        lambda: f"2026-0{rng.randint(1, 9)}-1{rng.randint(0, 9)}T10:00:00Z key={rng.choice(WORDS)}",  # noqa: E501
        lambda: f"{rng.choice(WORDS)}_{rng.choice(WORDS)}_{rng.choice(WORDS)}_{rng.randint(1, 99)}",  # noqa: E501
        lambda: f"/srv/anna/{rng.choice(WORDS)}/keys/{of(HEX, 10)}.key: ok",
        lambda: f"def {rng.choice(WORDS)}_token(self, key: str, secret: bytes) -> str:",
        lambda: f"    {name()}: {rng.choice(['string', 'int', 'bytes'])};",
        lambda: words(20).capitalize() + ".",
        assigned, assigned, assigned, assigned,
    )  # fmt: skip


def made_lines(seed: int = 1, number: int = 10_000) -> Iterator[str]:
    """Return lines that a seed makes."""
    make = Maker(seed)
    kinds = _lines(make)
    for _ in range(number):
        yield make.rng.choice(kinds)()


def own_lines() -> Iterator[str]:
    """Return the lines of this project's sources and documents.

    Not those of the secrets' own room and tests, which are about nothing else.
    """
    for pattern in ("hivemind_memory/**/*.py", "docs/**/*.md", "fixtures/**/*.md"):
        for path in sorted(ROOT.glob(pattern)):
            if "redaction" not in path.parts:
                yield from path.read_text(encoding="utf-8").splitlines()


def prose(rng: random.Random, size: int) -> str:
    """Return text of some size that no rule has any business with."""
    letters = string.ascii_lowercase
    text = []
    while sum(map(len, text)) < size:
        text.append("".join(rng.choices(letters, k=rng.randint(2, 9))) + " ")
    return "".join(text)

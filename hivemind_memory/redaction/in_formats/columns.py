"""Finds secrets in the columns of tables: Markdown, CSV, or aligned with blanks."""

from __future__ import annotations

from hivemind_memory.patterns.lazy_pattern import lazy_re
from hivemind_memory.redaction.in_code.setting_names import (
    NAME_PARTS,
    ValueKind,
    classify_name,
)
from hivemind_memory.redaction.spans import TextSpan
from hivemind_memory.redaction.values.value_check import is_real
from hivemind_memory.redaction.values.value_score import held

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from hivemind_memory.redaction.line_words import LineWords

_MAX_ROWS = 200
_ACCOUNT_HEADS = frozenset(
    ("user", "username", "user name", "login", "account", "name", "benutzer", "email")
)
_SERVICE_HEADS = frozenset(
    (
        "service", "services", "provider", "dienst", "anbieter", "system", "site",
        "vendor", "app", "api", "what", "where", "tool", "fournisseur", "servicio",
        "servizio", "serviço", "usługa", "服务", "サービス", "сервис",
    )
)  # fmt: skip
_NETWORK_HEAD = lazy_re(r"(?i)ssid|wi-?fi|wlan|network|netz|réseau|red|rete|无线|無線")
_PIN_HEAD = lazy_re(r"(?:card |door |sim |phone )?(?:PIN|PUK)s?\d?(?:[ -]?[Cc]ode)?")
_PLACE_HEADS = frozenset(
    (
        "room", "door", "gate", "entrance", "building", "locker", "safe", "lock",
        "place",
        "location", "floor", "house", "flat", "apartment", "site", "raum", "tür", "tor",
        "gebäude", "porte", "salle", "puerta", "sala", "porta", "drzwi", "дверь",
        "unit",
    )
)  # fmt: skip
_CODE_HEADS = frozenset(
    ("code", "codes", "kod", "código", "codice", "kode", "код", "combo")
)
_LOGIN_HEADS = frozenset(
    (
        "login",
        "logins",
        "creds",
        "credentials",
        "access",
        "zugang",
        "account",
        "user/pw",
    )
)
_LOGIN = lazy_re(r"[\w.@+-]{2,40}(?::|[ ]?/[ ]?)(?P<value>[^\s:/|]{5,64})")
_PLAIN_HEAD = lazy_re(r"[\w -]+")
_GAP = lazy_re(r"[ \t]{2,}|\t")


def columns(
    there: LineWords,
    words: Iterable[str] = NAME_PARTS,
    chosen: Callable[[str], bool] | None = None,
) -> Iterator[TextSpan]:
    """Yield the cells of columns whose head says that they hold secrets.

    Args:
        there: The text.
        words: One of them is in each such head.
        chosen: Judges those of passwords in another way than by their look.
    """
    heads_at = there.rows(words)
    if not heads_at:
        return
    lines, starts, done = there.lines, there.starts, 0
    signs = [sign for sign in ("|", ",", ";", "\t", "  ") if sign in there.text]
    for at in heads_at:
        if at == len(lines) - 1:
            break
        line = lines[at]
        for sign in ("||",) if line.lstrip(" \t>").startswith("||") else signs:
            if at < done or line.count(sign) < 1 or len(line) > 400:
                continue
            below = at + 1 + (sign == "|")
            parted = "|" if sign == "||" else sign
            if not _is_head(line, lines[at + 1], sign):
                continue
            heads = [cell.strip(" \t>*`\"'") for cell in _split(line, sign)]
            kinds = _kinds_of(heads)
            if any(len(head) > 40 for head in heads) or not (
                any(kinds) or any(head.lower() in _LOGIN_HEADS for head in heads)
            ):
                continue
            if sign[0] != "|" and not all(map(_PLAIN_HEAD.fullmatch, heads)):
                continue
            rows = range(below, min(len(lines), below + _MAX_ROWS))
            for row in rows:
                cells = _split(lines[row].rstrip("\r"), parted)
                if len(cells) != len(heads):
                    break
                done = row
                yield from _cells(cells, starts[row], heads, kinds, chosen)


def _is_head(line: str, below: str, sign: str) -> bool:
    """Whether a line may be the head of a table, by the line below it."""
    if sign == "||":
        return below.lstrip(" \t>").startswith("|")
    if sign == "|":
        return _is_separator(below)
    if sign == "  ":
        return sign in below or "\t" in below
    return below.count(sign) == line.count(sign)


def _kinds_of(heads: list[str]) -> list[ValueKind | None]:
    """Return what the columns below some heads hold."""
    has_place = any(head.lower() in _PLACE_HEADS for head in heads)
    kinds = [
        ValueKind.PASSWORD
        if _PIN_HEAD.fullmatch(head) or (has_place and head.lower() in _CODE_HEADS)
        else classify_name(head.replace(" ", "_"))
        for head in heads
    ]
    is_account = any(head.lower() in _ACCOUNT_HEADS for head in heads)
    if is_account or any(_NETWORK_HEAD.search(head) for head in heads):
        # Beside an account or a network a secret is one that a person chose.
        return [kind and ValueKind.PASSWORD for kind in kinds]
    if any(head.lower() in _SERVICE_HEADS for head in heads):
        return [ValueKind.SECRET if kind is ValueKind.KEY else kind for kind in kinds]
    return kinds


def _is_separator(line: str) -> bool:
    """Whether a line parts the head of a table from its rows."""
    body = line.rstrip("\r").lstrip(" \t>")
    return ("|" in body[1:] or "+" in body[1:]) and not body.strip(" \t:|+-")


def _cells(
    cells: list[str],
    start: int,
    heads: list[str],
    kinds: list[ValueKind | None],
    chosen: Callable[[str], bool] | None,
) -> Iterator[TextSpan]:
    """Yield the secrets in a row of a table that begins at the place *start*."""
    for head, kind, cell in zip(heads, kinds, cells, strict=True):
        value = cell.strip(" \t*`\"'{}")
        name = head.replace(" ", "_")
        is_secret = False
        login = _LOGIN.fullmatch(value) if head.lower() in _LOGIN_HEADS else None
        if login and not chosen and held(login["value"]):
            at = start + cell.index(value) + login.start("value")
            yield (at, at + len(login["value"]), "password")
            start += len(cell) + 1
            continue
        if kind and value:
            is_secret = (
                kind is ValueKind.PASSWORD and chosen(value)
                if chosen
                else is_real(name, value, kind, firm=True, tight=True)
            )
        if kind and is_secret:
            at = start + cell.index(value)
            yield (at, at + len(value), kind.value)
        start += len(cell) + 1


def _split(line: str, sign: str) -> list[str]:
    """Return the cells of a row; blanks of a table set in columns stay with them."""
    if sign != "  ":
        return line.split(sign)
    # Cells keep their length and one blank is the sign, so that places add up.
    places = [found.end() for found in _GAP.finditer(line.rstrip())]
    starts = [0, *places]
    ends = [*(place - 1 for place in places), len(line)]
    return [line[start:end] for start, end in zip(starts, ends, strict=True)]

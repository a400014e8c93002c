"""Finds literals in calls that sign in, connect or encrypt.

``connect(url, "shop", "Xk9…")``, ``Fernet("…")``, ``jwt.sign(claims, "…")``: the name
of the call says how much a literal must look like a secret.
"""

from __future__ import annotations

import re

from hivemind_memory.patterns.lazy_pattern import lazy_re
from hivemind_memory.redaction.values.passphrase_check import is_drawn
from hivemind_memory.redaction.values.password_check import (
    is_likely,
    is_random,
    looks_chosen,
    may_be_chosen,
)
from hivemind_memory.redaction.values.value_check import (
    entropy,
    is_identifier,
    is_no_secret,
    is_sure,
    looks_random,
)
from hivemind_memory.redaction.values.value_score import score

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from hivemind_memory.redaction.spans import TextSpan

_LITERAL = lazy_re(
    r"[\"'`](?:(?<![A-Za-z0-9_\\].)|(?<=(?<![A-Za-z0-9_\\])[brufN@$].)"
    r"|(?<=(?<![A-Za-z0-9_\\])[brufN@$]{2}.))"
    r"(?:(?<=\")(?=[^\"]{0,60}[0-9!#$%&*@^-])(?P<one>[^\s\"]{6,200})\""
    r"|(?<=')(?=[^']{0,60}[0-9!#$%&*@^-])(?P<two>[^\s']{6,200})'"
    r"|(?<=`)(?=[^`]{0,60}[0-9!#$%&*@^-])(?P<three>[^\s`]{6,200})`)"
)
# The name of a call, in lower case.
_CONNECTS = lazy_re(
    r"(?:auth\w{0,12}|log_?(?:in|on)|sign_?in\w{0,20}|connect\w{0,14}|mysqli\w{0,8}|pdo"
    r"|getconnection|set_?credentials?|credentials?|basic\w{0,12}|passwordauthentication"
    r"|authenticat\w{0,8}|userpass\w{0,8}|bind|simple_bind\w{0,4}|open|dial(?:er|tls)?"
    r"|ftp\w{0,4}|smtp\w{0,10}|create_?user|add_?user|set_?password|change_?password"
    r"|plain_?auth|usernamepassword\w{0,24}|establish_connection|newclient|setpass"
    r"|with_?credentials?|with_?password|password|userinfo|bcrypt[\w.:]{0,12}|hash::make"
    r"|make_password|(?:hash|check|verify)_?password\w{0,8}|password_?(?:hash|verify)"
    r"|create_?superuser|\w{0,20}pw_set|wifi\.begin)\Z"
)
_CRYPTO = lazy_re(
    r"(?:hmac\w{0,14}|cipher\w{0,10}|aes\w{0,10}|fernet|jwt\w{0,10}(?:[.:]{1,2}\w{1,14})?"
    r"|sign\w{0,12}|verify\w{0,12}|encrypt\w{0,8}|decrypt\w{0,8}|secretkey\w{0,8}"
    r"|createdecipher\w{0,4}|createcipher\w{0,4}|secretbox\w{0,6}|messageverifier"
    r"|messageencryptor|signedcookie\w{0,10}|keypair|serializer|signer|oauth\w{0,24}"
    r"|consumer|twitter|wallet|keyring|nacl\w{0,8}|x_?api|set_?key|set_?token|set_?api_?key"
    r"|api_?key\w{0,14}|token\w{0,14}|secret\w{0,14}|symmetrickey\w{0,12}|pbkdf2\w{0,8}"
    r"|blowfish\w{0,6}|new_?client|client|api|sdk|bearer\w{0,12}|unwrap_or\w{0,8}|fallback"
    r"|get_?env|fetch|init|configure|setup|bot|webhook\w{0,8}|stripe|sendgrid\w{0,12}"
    r"|from_?key|privatekey\w{0,14}|cookie_?session|cookieparser|keygrip)"
    r"(?:[.:]{1,2}new|\.\w{1,14})?!?\Z"
)
# Nothing but a key is their second argument.
_TAKES_KEY = lazy_re(r"(?:createhmac|create(?:de)?cipheriv)\Z")
_NAME = lazy_re(r"([\w.:>$@!-]{1,60})[\"']?[ \t]{0,4}[=:]?[ \t]{0,4}\Z")
_PATTERN = lazy_re(r"[\\()\[\]{}|^]")  # signs of a regular expression
_LIKELY = 3.0
_ARGUMENT_CHARS = 500
_MAX_DEPTH = 3  # of brackets around a literal that are looked at
_FIRST_ONES = 4  # arguments among which a password is
_COMMON_NAMES = (
    "client",
    "api",
    "sdk",
    "init",
    "configure",
    "setup",
    "bot",
    "token",
    "unwrap_or",
    "fallback",
    "env",
    "fetch",
)


def in_calls(text: str) -> Iterator[TextSpan]:
    """Yield what calls that sign in, connect or encrypt are given as a literal."""
    for found in _LITERAL.finditer(text):
        at = found.start()
        if (
            max(text.rfind(sign, max(0, at - _ARGUMENT_CHARS), at) for sign in "([{")
            < 0
        ):
            continue
        group = found.lastgroup or "one"
        value = found[group]
        is_password = may_be_chosen(value) or score(value) >= _LIKELY
        is_key = _is_key(value, is_strict=False)
        if not is_password and not is_key:
            continue
        for name, place in _calls_around(text, found.start()):
            if (is_password and _CONNECTS.search(name) and place < _FIRST_ONES) and (
                place
                or "hash" in name
                or is_likely(value)
                or _is_alone(text, found.end())
            ):
                yield (*found.span(group), "password")
            elif (place == 1 and _TAKES_KEY.search(name) and is_password) or (
                is_key
                and _CRYPTO.search(name)
                and (
                    not name.rstrip("!").endswith(_COMMON_NAMES)
                    or _is_key(value, is_strict=True)
                )
            ):
                yield (*found.span(group), "secret")
            else:
                continue
            break


def _calls_around(text: str, at: int) -> Iterator[tuple[str, int]]:
    """Yield the names of the calls around a place, and which argument it is in."""
    depth = commas = seen = 0
    for place in range(at - 1, max(-1, at - _ARGUMENT_CHARS), -1):
        letter = text[place]
        if letter in ")]}":
            depth += 1
        elif letter in "([{" and depth:
            depth -= 1
        elif letter in "([{":
            name = _NAME.search(text, max(0, place - 70), place)
            if name:
                yield name[1].lower(), commas
            seen += 1
            commas = 0
            if seen == _MAX_DEPTH:
                return
        elif letter == "," and not depth:
            commas += 1
        elif letter == ";" and not depth:
            return


def _is_alone(text: str, end: int) -> bool:
    """Whether a literal is the last argument of its call."""
    return text[end : end + 20].lstrip(" \t\r\n,")[:1] in (")", "]", "}")


def _is_key(value: str, *, is_strict: bool) -> bool:
    """Whether a literal is a key: random letters, or words that were drawn."""
    if (
        _PATTERN.search(value)
        or is_identifier(value)
        or len(value) < 14
        or is_no_secret(value, firm=True)
    ):
        return False
    if re.fullmatch("[0-9a-fA-F]+", value):
        sizes = {32, 40, 48, 64, 96, 128}
        return not is_strict and len(value) in sizes and entropy(value) >= 3.0
    if is_sure(value) or is_random(value):
        return True
    return not is_strict and (
        looks_chosen(value)
        or (re.search(r"-\d", value) is not None and is_drawn(value))
        or (len(value) >= 20 and looks_random(value))
    )

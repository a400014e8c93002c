"""Decides quickly whether a text may hold what ``sentences`` finds."""

from __future__ import annotations

from hivemind_memory.patterns.lazy_pattern import lazy_re
from hivemind_memory.redaction.secret_names import PASSWORD_NAMES, PASSWORDS_ELSEWHERE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hivemind_memory.redaction.line_words import LineWords

PASSWORD_WORDS = (
    "pass", "pw", "kennwort", "contrase", "senha", "parola", "wachtwoord", "hasło",
    "haslo", "şifre", "пароль",
)  # fmt: skip
ACCOUNTS = (
    "admin", "administrator", "root", "postgres", "sa", "deploy", "ci", "guest", "user",
    "test", "elastic", "grafana", "jenkins", "oracle", "ubuntu", "pi", "ec2-user",
    "service", "backup", "operator", "support",
)  # fmt: skip
LOGIN_WORDS = ("log", "sign", "connect", "authent")
CREDENTIAL_WORDS = ("cred", "login", "zugangsdaten")
SECRET_WORDS = ("token", "secret", "key", "password", "credential")
_OTHERS = (
    *PASSWORD_WORDS, *SECRET_WORDS, *CREDENTIAL_WORDS,
    "psk", "nmcli", "ipmitool", "snmp", "zip", "7z", "openssl", "rclone", "smbclient",
    "lftp",
    "sqlcmd", "bcp", "mosquitto", "ssh-keygen", "net use", "cmdkey", "twine", "doctl",
    "auth ",
    "-stdin", "sudo -s", "signature=", '"kty"', "card", "visa", "amex", "karte",
    "carte", "tarjeta", "xfreerdp", "rdesktop", "sqlplus", "sqlldr", "expdp", "impdp",
    "rman ", "connect ", "conn ", "jdbc:oracle", "wifi:", "encrypt", "licen",
    "serial", "product", "activation", "<th", " pin", "pin ", "puk", "recovery",
    "backup", "scratch", "bitlocker", "networkcredential", "securestring", "enable ",
    "username ", "community", "hashedcontrol", "az login", "oc login", "redis",
    "requirepass", "masterauth", "createuser", "eap",
)  # fmt: skip
# Words as common as these say something only with what is next to them.
_ACCOUNT = rf"\b(?:{'|'.join(ACCOUNTS)})[\"'`]?"
_BESIDE = lazy_re(rf"{_ACCOUNT}(?:[ \t]+/[ \t]|:\S|,[ \t]*\S)")
_LOGGED_IN = lazy_re(
    r"\b(?:log(?:ged)?[ -]?in|sign(?:ed)?[ -]?in|connect|authenticate)\b"
    r"[^\n.!?]{0,60}?\b(?:as|user|with)\b"
)
_NAMED, _ASSIGNED, _LOGIN = "an account", "an account:", "a login"
MIXED = "letters and digits"
DASHED = "words and dashes"
NAME_WORDS = (
    *("pass", "pw", "contrase", "secret", "psk", ".auth"),
    *(*PASSWORD_NAMES, *PASSWORDS_ELSEWHERE),
)
"""One of these is in each name of a password, in lower case."""
LETTER_WORDS = (
    "pptpd", "net user", "wpa_passphrase", "rar ", "curl", " -a ", "docker login",
    "podman login", "sshpass", "mysql", "mariadb", "cqlsh", "mongo", "redis-cli",
    "ldap", "rpcclient", ".py ", "schtasks", "qpdf", "tacacs", "radius", "chpasswd",
    "rootpw", "password password", "machine ", "poetry config", "pulumi config",
    "mysqldb", "getconnection", "wifi.begin", "331 ", "<auth-user-pass>", "smtp",
    "_authtoken", "passphrase", "identified", "jwt", "salt", "ip addresses", "define",
    "temporary password", " -u", " -pw ", "-password", "/password:", "upw ",
    "_pw ", "reg_sz", "clear:s:", "authentication ", "md5 ", "key ", "option key",
    "identified by", "set password", "~*", "mosquitto_passwd", "doveadm auth",
    "p-secrets", "users=", "radtest", "sp_addlogin", "uci set", "ascii-text ",
    "{plain}", "auth_users", "cwjap", "new pdo", "mysqli", "basicauth", "set_password",
    "setpassword", "jwt.", "]:", "auth=", "-value", "password= ", "password ",
    "echo ", "printf ", "send", "-u", "-a", "user", "auth", "login", "connect", "cred",
    "key ", "http", "kind: secret", "stringdata:", 'kind: "secret', "kind:  secret",
    "pin", "basic", "into",
)  # fmt: skip
"""Words that ``letter_places`` needs, beside the names of passwords."""
SPOKEN_WORDS = (
    *NAME_WORDS, "key", "phrase", "community", "prompt", "cookie", "session", "token",
    "chave", "clave", "clé", "chiave", "schlüssel", "ключ", "токен", "klucz", "jeton",
    "pin", "puk", "cred", "pepper", "login", "lösenfras", "adgangssætning", "salalause",
)  # fmt: skip
"""Words that ``spoken_letters`` needs."""
GATE_WORDS = (*_OTHERS, *SPOKEN_WORDS, *LETTER_WORDS, "/")
"""Words that a text is searched for before ``may_be_spoken`` is asked."""

_SIGN = "[!$%&*#?^~@]"
GATE_PATTERNS = {
    _NAMED: (lazy_re(rf"(?m){_ACCOUNT}$"), ACCOUNTS),
    _ASSIGNED: (lazy_re(rf"{_ACCOUNT}[:,]"), ACCOUNTS),
    MIXED: (
        lazy_re(
            r"[0-9!$%&*#?^~@-](?:(?<=[0-9])(?:[a-z]|[0-9]{3}|(?<=[a-z_-].))"
            rf"|(?<={_SIGN})(?<=[a-z0-9].){_SIGN}{{0,2}}[a-z0-9]"
            r"|(?<=[a-z]{4}-)[a-z]{4}-[a-z]{4}-[a-z]{4})"
        ),
        (),
    ),
    DASHED: (lazy_re(r"-(?<=[a-z]{3}-)[a-z]{3,12}-[a-z]{3}"), ()),
    _LOGIN: (
        lazy_re(r"\b(?:(?:log(?:ged)?|sign(?:ed)?)-?(?:in)?|connect|auth\w+)\b"),
        ("log", "sign", "connect", "auth"),
    ),
}
"""What its pieces between blanks are searched for, by a name that is not a word."""

_OTHERS_SET = frozenset(_OTHERS)


def may_be_spoken(there: LineWords) -> bool:
    """Return whether ``in_sentences`` may find something.

    Args:
        there: A text, and what it has of ``GATE_WORDS`` and ``GATE_PATTERNS``.
    """
    return (
        there.has_any(_OTHERS_SET)
        or has_pair(there)
        or (_LOGIN in there and _LOGGED_IN.search(there.low) is not None)
    )


def has_pair(there: LineWords) -> bool:
    """Return whether the name of an account has something beside it."""
    is_beside = _ASSIGNED in there or (_NAMED in there and "/" in there)
    return is_beside and _BESIDE.search(there.low) is not None

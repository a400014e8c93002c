"""Tells quickly whether a text may hold what ``spoken`` finds: every text is asked."""

from __future__ import annotations

import re

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
    "sqlcmd", "bcp", "mosquitto", "ssh-keygen", "net use", "cmdkey", "twine", "auth ",
    "-stdin", "sudo -s", "signature=", '"kty"', "card", "visa", "amex", "karte",
    "carte", "tarjeta", "xfreerdp", "rdesktop", "sqlplus", "wifi:", "encrypt", "licen",
    "serial", "product", "activation", "<th", " pin", "pin ", "puk", "recovery",
    "backup", "scratch", "bitlocker", "networkcredential", "securestring", "enable ",
    "username ", "community", "hashedcontrol", "az login", "oc login", "redis",
)  # fmt: skip
# Words as common as these say something only with what stands beside them.
_BESIDE = re.compile(
    rf"\b(?:{'|'.join(ACCOUNTS)})[\"'`]?(?:[ \t]+/[ \t]|:\S|,[ \t]*\S)"
    r"|\b(?:log(?:ged)?[ -]?in|sign(?:ed)?[ -]?in|connect|authenticate)\b"
    r"[^\n.!?]{0,60}?\b(?:as|user|with)\b"
)


def may_be_spoken(low: str) -> bool:
    """Return whether ``in_sentences`` may find something in a text in lower case."""
    return any(word in low for word in _OTHERS) or _BESIDE.search(low) is not None

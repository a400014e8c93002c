"""Words without which ``spoken`` finds nothing; apart, because every text is asked."""

from __future__ import annotations

SPOKEN_WORDS = (
    "pass", "pw", "token", "secret", "credential", "api key", "api-key", "apikey",
    "kennwort", "contrase", "senha", "parola", "wachtwoord", "hasło", "haslo",
    "şifre", "пароль", "admin", "root", "postgres", "deploy", "guest", "user",
    "elastic", "grafana", "jenkins", "psk", "ipmitool", "snmp", "zip", "7z", "openssl",
    "rclone", "smbclient", "lftp", "sqlcmd", "bcp", "mosquitto", "ssh-keygen",
    "net use", "cmdkey", "twine", " login", "auth ", "-stdin", "sudo -s",
    "signature=", '"kty"', "card", "visa", "amex", "karte", "carte", "tarjeta",
    "xfreerdp", "rdesktop", "sqlplus", "wifi:", "encrypt", "licen", "serial", "<th",
    "log in", "logged in", "sign in", " pin", "pin ", "puk", "recovery",
    "bitlocker", "securestring",
)  # fmt: skip
"""Words without which no sentence or command gives a secret away."""

"""The commands that take a password: one row each; a new one is added here.

An option that takes one in any program, such as ``--password``, is in ``arguments``.
Two tables, for two ways to say where the value stands. Each row begins with a word, in
lower case, without which a text is not looked at; a word of ``FORMS`` stands in
``sentence_gate`` too, and a test compares them.
"""

from __future__ import annotations

import re

from hivemind_memory.patterns.lazy_pattern import lazy_re

_USER = lazy_re(
    r"(?:-u|--user"
    r"|--proxy-user)[ \t=]{1,3}([\"']?)([\w.@+-]{0,60})[\"']?:[\"']?([^\s\"']{3,200})"
)
_FLAG = lazy_re(r" -p[ \t]*([\"']?)([^\s\"'-][^\s\"']{5,200})")
_JOINED = lazy_re(r" -p([\"']?)([^\s\"'-][^\s\"']{5,200})")
_WORD = lazy_re(r" -w[ \t]*([\"']?)([^\s\"'-][^\s\"']{4,200})")
_AUTH = lazy_re(r" -a[ \t]+([\"']?)([^\s\"'-][^\s\"']{5,200})")
OPTIONS = (
    ("curl", _USER),
    ("sshpass", _FLAG),
    ("login", _FLAG),
    ("mysql", _JOINED),
    ("redis-cli", _AUTH),
    ("ldap", _WORD),
    ("add-generic-password", _WORD),
)
"""Word -> the option that holds the password, anywhere on the line after the word; the
last group is the value. Only placeholders are passed over. ``credentials`` reads it."""

VALUE = r"[\"']?(?P<value>[^\s\"'`$<%|;{-][^\s\"'`|;]{3,200})"
# No part of any length: where the command occurs often, each would be tried from each.
_HTPASSWD = (
    r"htpasswd[ \t]{1,9}-\w{0,9}b\w{0,9}(?:[ \t]{1,9}-\w{1,9}){0,9}"
    r"[ \t]{1,9}\S{1,90}[ \t]{1,9}\S{1,90}[ \t]{1,9}"
)
# An account of Oracle and its password, ``scott/…@orcl``; no action of a workflow.
_ORACLE = r"[\w$#]{1,40}/(?=[^\s/@]{0,60}(?-i:[0-9A-Z!#$%&*+?^~])[^\s/@]{0,60}@)"
_ORACLE_PROGRAM = rf"[^\n]{{0,120}}?[ \t=\"']{_ORACLE}"
_ORACLE_PROMPT = (
    rf"(?im)^(?:[ \t]{{0,8}}SQL>)?[ \t]{{0,8}}conn(?:ect)?[ \t]{{1,9}}{_ORACLE}"
)
_BARE = r"(?<![\w.-])"  # in a list of properties
_MARKED = r"(?=[^\s]{0,60}[0-9!#$%&])"
FORMS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (word, lazy_re(pattern + VALUE))
    for word, pattern in (
        ("storepass", r"-(?:\w{0,12})storepass(?:word)?[ \t]+"),
        ("storepass", rf"{_BARE}storepass[ \t]+{_MARKED}"),
        ("keypass", r"-(?:\w{0,12})keypass(?:word)?[ \t]+"),
        ("keypass", rf"{_BARE}keypass[ \t]+{_MARKED}"),
        ("htpasswd", _HTPASSWD),
        ("nmcli", r"nmcli\b[^\n]{0,200}?\bpassword[ \t]+"),
        ("psk", r"(?:wifi-sec|802-11-wireless-security)\.psk[ \t]+"),
        ("psk", r"(?i):[ \t]*PSK[ \t]+(?=\")"),
        ("eap", r"(?i):[ \t]*(?:EAP|XAUTH|NTLM)[ \t]+(?=\")"),
        ("ipmitool", r"ipmitool\b[^\n]{0,200}? -P[ \t]+"),
        ("snmp", r"snmp\w{1,20}\b[^\n]{0,200}? -[AX][ \t]+"),
        ("securestring", r"(?i)ConvertTo-SecureString(?: +-String)?[ \t]+(?=[\"'])"),
        ("networkcredential", r"(?i)NetworkCredential\([^,\n]{1,80},[ \t]*(?=\")"),
        ("enable ", r"(?i)\benable[ \t]+(?:secret|password)[ \t]+(?:\d[ \t]+)?"),
        ("username ", r"(?i)\busername \S+ (?:pri\w+ \d+ )?(?:secret|password) (\d )?"),
        ("community", r"(?i)\b(?:snmp-server[ \t]+|r[ow])community6?[ \t]+"),
        ("hashedcontrol", r"HashedControlPassword[ \t]+"),
        ("xfreerdp", r"xfreerdp\w{0,20}\b[^\n]{0,200}? /p:"),
        ("rdesktop", r"rdesktop\b[^\n]{0,200}? -p[ \t]+"),
        ("sqlplus", r"sqlplus\b[^\n]{0,60}?[ \t][\w$#]{1,40}/(?=[^\s/]{4,100}@)"),
        ("sqlldr", rf"(?i)\bsqlldr\b{_ORACLE_PROGRAM}"),
        ("expdp", rf"(?i)\bexpdp\b{_ORACLE_PROGRAM}"),
        ("impdp", rf"(?i)\bimpdp\b{_ORACLE_PROGRAM}"),
        ("rman ", rf"(?i)\brman\b{_ORACLE_PROGRAM}"),
        ("connect ", _ORACLE_PROMPT),
        ("conn ", _ORACLE_PROMPT),
        ("jdbc:oracle", rf"(?i)jdbc:oracle:\w{{2,5}}:{_ORACLE}"),
        ("wifi:", r"WIFI:[^\n]{0,100}?;P:"),
        ("encrypt",
        r"(?m)(?:^|[\s{,:])\"?encrypt\"?[ \t]*[=:][ \t]*(?=\"[\w+/]{20,90}=*\")"),
        ("unzip", r"unzip\b[^\n]{0,100}? -P[ \t]+"),
        ("zip ", r"\bzip\b[^\n]{0,100}? -P[ \t]+"),
        ("7z", r"\b7z\w?\b[^\n]{0,100}? -p"),
        ("openssl", r"openssl\b[^\n]{0,200}? (?:-k[ \t]+|-pass(?:in|out)?[ \t]+pass:)"),
        ("rclone", r"rclone[ \t]+obscure[ \t]+"),
        ("smbclient", r"smbclient\b[^\n]{0,200}? -U[ \t]*['\"]?[\w.\\/-]{1,40}%"),
        ("lftp", r"lftp\b[^\n]{0,100}? -u[ \t]+[\w.@-]{1,40},"),
        ("sqlcmd", r"sqlcmd\b[^\n]{0,200}? -P[ \t]*"),
        ("bcp", r"\bbcp\b[^\n]{0,200}? -P[ \t]*"),
        ("mosquitto", r"mosquitto_\w{1,20}\b[^\n]{0,200}? -P[ \t]+"),
        ("ssh-keygen", r"ssh-keygen\b[^\n]{0,200}? -[NP][ \t]+"),
        ("net use", r"(?i)net use[ \t]+[^\n]{0,200}?/user:\S+[ \t]+(?!/|\*)"),
        ("cmdkey", r"(?i)cmdkey\b[^\n]{0,200}?/pass:"),
        ("doctl", r"doctl\b[^\n]{0,100}? (?:-t|--access-token)[ \t]+"),
        ("twine", r"twine\b[^\n]{0,200}? -p[ \t]+"),
        ("az login", r"az login\b[^\n]{0,200}? -p[ \t]+"),
        ("oc login", r"oc login\b[^\n]{0,200}? -p[ \t]+"),
        ("requirepass", r"(?i)\brequirepass[ \t]+(?!\(|\d+\.\d)"),
        ("masterauth", r"(?i)\bmasterauth[ \t]+"),
        ("createuser",
        r"(?i)\bcreateuser[ \t]+(?:-e \S+ )?\S+[ \t]+\w{3,8}(?:-\d+)?[ \t]+"),
        ("createuser",
        r"(?i)\bcreateuser[^\n]{0,120}?[ \t](?:AES|DES)(?:-?\d+)?[ \t]+"),
        ("auth ", r"(?m)^(?:[\w.:>\[\]()]{0,30}>[ \t]*)?AUTH[ \t]+(?:\w{1,30}[ \t]+)?"),
        ("chpasswd", r"\b[\w.-]{1,32}:(?=[^\n]{4,100}\|[ \t]*(?:sudo[ \t]+)?chpasswd)"),
        ("-stdin", r"echo[ \t]+(?:-n[ \t]+)?(?=[^\n|]{4,100}\|[^\n]{0,60}-stdin)"),
        ("sudo -s", r"echo[ \t]+(?:-n[ \t]+)?(?=[^\n|]{4,100}\|[ \t]*sudo[ \t]+-S)"),
    )
)  # fmt: skip
"""Word -> all that is before the value. The value is believed unless it is a plain
word or a placeholder. ``sentences`` reads it."""

WORDS = frozenset(word for word, _ in FORMS)
"""Words without which no text has one of these forms, in lower case."""

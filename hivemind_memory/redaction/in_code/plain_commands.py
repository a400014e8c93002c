"""Commands after which a word is a password whatever it looks like.

``in_letter_places`` believes what stands there, but for the words that documents put
in the place of a value. Each row begins with a word, in lower case, that
``sentence_gate`` knows too; a test compares them.
"""

from __future__ import annotations

import re

from hivemind_memory.patterns.lazy_pattern import lazy_re
from hivemind_memory.redaction.in_code.commands import VALUE

# A line of a router or a switch.
_DEVICE = (
    r"(?m)^[ \t]*(?:set|neighbor|standby|vrrp|ip|ipv6|crypto|ntp|area|tunnel|ppp|peer"
    r"|bgp|isis|key|server)[ \t](?:[^\n|;=]{0,120}?[ \t])?"
)
PLAIN_FORMS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (word, lazy_re(pattern + VALUE))
    for word, pattern in (
        (
            "pptpd",
            (
                r"(?m)^[ \t]*(?:\S{1,64}|\"[^\"\n]{1,64}\")[ \t]+(?:pptpd|"
                r"l2tpd)[ \t]+"
            ),
        ),
        ("net use", r"(?i)net use[ \t]+(?:\w:|\*)?[ \t]*\\\\\S+[ \t]+(?!/|\*)"),
        ("net user", r"(?i)net user[ \t]+[\w.$-]+[ \t]+(?!/|\*)"),
        (
            "wpa_passphrase",
            (r"wpa_passphrase[ \t]+(?:[\"'][^\"'\n]{1,64}[\"']|\S{1,64}" r")[ \t]+"),
        ),
        ("rar ", r"\b(?:un)?rar\b[^\n]{0,100}? -h?p(?!-)"),
        ("7z", r"\b7z\w?\b[^\n]{0,100}? -p"),
        ("passphrase", r"(?<![\w-])--(?:[\w-]{1,20}-)?passphrase[ \t=]+"),
        (
            "password",
            (
                r"(?m)^(?:[$#>%][ \t]+|[ \t]*)(?:\w+=\S+[ \t]+)*[\w./-]{1,"
                r"40}[ \t][^\n]{0,200}?(?<![\w-])--(?:[\w-]{1,20}-)?passwo"
                r"rd[ \t=]+(?![^\n]{0,40}[.,][ \t\n])"
            ),
        ),
        (
            "curl",
            (
                r"\bcurl\b[^\n]{0,200}? (?:-u|--user|--proxy-user)[ \t=]*"
                r"[\"']?[\w.@+-]{1,60}:"
            ),
        ),
        (
            " -a ",
            (
                r"\b(?:http|ab|hey|siege)[ \t][^\n]{0,100}?-[aA][ \t]+"
                r"[\w.@+-]{1,60}:"
            ),
        ),
        ("docker login", r"docker login\b[^\n]{0,120}? -p[ \t=]*"),
        ("podman login", r"podman login\b[^\n]{0,120}? -p[ \t=]*"),
        ("sshpass", r"sshpass -p[ \t]*"),
        ("mysql", r"\bmysql\w{0,12}\b[^\n]{0,120}? -p(?=\S)"),
        ("mariadb", r"\bmariadb[\w-]{0,12}[^\n]{0,120}? -p(?=\S)"),
        ("cqlsh", r"\bcqlsh\b[^\n]{0,120}? -p[ \t]*"),
        ("mongo", r"\bmongo\w{0,12}\b[^\n]{0,160}? -p[ \t]*"),
        ("redis-cli", r"redis-cli\b[^\n]{0,120}? (?:-a|--pass)[ \t]+"),
        ("ldap", r"\bldap\w{3,12}\b[^\n]{0,200}? -w[ \t]*"),
        ("rpcclient", r"rpcclient\b[^\n]{0,100}? -U[ \t]*[\"']?[\w.\\/-]{1,40}%"),
        ("smbclient", r"smbclient\b[^\n]{0,100}? -U[ \t]*[\"']?[\w.\\/-]{1,40}%"),
        (
            ".py ",
            (
                r"\.py[ \t][^\n]{0,60}?\b[\w.-]{1,40}/[\w.-]{1,40}:(?="
                r"[^\s@/]{4,100}@[\w.-])"
            ),
        ),
        ("schtasks", r"(?i)schtasks\b[^\n]{0,200}?/rp[ \t]+"),
        ("qpdf", r"qpdf\b[^\n]{0,60}? --encrypt[ \t]+"),
        ("qpdf", r"qpdf\b[^\n]{0,60}? --encrypt[ \t]+\S{1,100}[ \t]+"),
        ("tacacs", r"(?m)^[ \t]*tacacs-server key[ \t]+(?:\d[ \t]+)?"),
        ("radius", r"(?m)^[ \t]*radius-server key[ \t]+(?:\d[ \t]+)?"),
        (
            "chpasswd",
            (
                r"(?m)chpasswd:?[ \t]*(?:<<<[ \t]*[\"']?|\r?\n[^\n]{0,40}"
                r"\r?\n[ \t]*)[\w.-]{1,32}:"
            ),
        ),
        ("rootpw", r"(?m)^[ \t]*rootpw[ \t]+(?:--plaintext[ \t]+)?(?!--)"),
        ("password password", r"/[\w-]*password(?:-again)?[ \t]+password[ \t]+"),
        (
            "machine ",
            (
                r"\bmachine[ \t]+\S{1,100}[ \t]+login[ \t]+\S{1,60}[ \t]+p"
                r"assword[ \t]+"
            ),
        ),
        (
            "poetry config",
            (r"poetry config[ \t]+http-basic\.\S{1,60}[ \t]+\S{1,60}" r"[ \t]+"),
        ),
        ("pulumi config", r"pulumi config set[ \t]+--secret[ \t]+\S{1,60}[ \t]+"),
        (
            "rclone",
            (
                r"rclone config (?:create|update)[^\n]{0,200}?[ \t]pass(?:"
                r"word)?[ \t=]+"
            ),
        ),
        (
            "mysqldb",
            (r"(?i)mysqldb\.connect\([^,\n]{1,60},[^,\n]{1,60},[ \t]*(?" r"=[\"'])"),
        ),
        (
            "getconnection",
            (r"(?i)\bgetConnection\([^,\n]{1,120},[^,\n]{1,60},[ \t]*(?" r"=\")"),
        ),
        ("wifi.begin", r"\bWiFi\.begin\([^,\n]{1,60},[ \t]*(?=\")"),
        ("331 ", r"(?m)^331 [^\n]{0,80}\r?\n[^\n]{0,12}?PASS[ \t]+"),
        ("auth ", r"(?m)^[ \t>]*AUTH[ \t]+(?=\S+[ \t]*$)"),
        (
            "identified",
            (
                r"(?i)\bidentified[ \t]+(?:with[ \t]+\S{1,40}[ \t]+)?by"
                r"[ \t]+(?=['\"])"
            ),
        ),
        (
            "secret",
            (r"\bclient[ \t]+\S{1,60}[ \t]*\{[^{}]{0,200}?\bsecret[ \t]" r"*=[ \t]*"),
        ),
        (
            "jwt",
            (
                r"(?i)\"jwt\w*\"[ \t]*:[ \t]*\{[^{}]{0,300}?\"\w{0,20}key"
                r"\"[ \t]*:[ \t]*(?=\")"
            ),
        ),
        ("salt", r"['\"]\w{0,16}salt['\"][ \t]*(?:=>|:)[ \t]*(?=['\"])"),
        ("chpasswd", r"(?m)^[ \t]+[a-z_][\w.-]{0,31}:"),
        (
            "ip addresses",
            (
                r"(?im)^[#; \t]*client[ \t]+server[ \t]+secret[ \t]+ip add"
                r"resses[^\n]*\r?\n(?:\"[^\"\n]{1,64}\"|[^\s#]{1,64})[ \t]"
                r"+\S{1,64}[ \t]+"
            ),
        ),
        (
            "token",
            (
                r"(?i)\btokens?[\"']?[:= \t]+[\"']?(?=[a-z0-9]{6}\."
                r"[a-z0-9]{16}(?![\w.]))"
            ),
        ),
        ("<auth-user-pass>", r"<auth-user-pass>[ \t]*\r?\n\S{1,80}\r?\n[ \t]*"),
        ("smtp", r"\bsmtp[\w.-]{1,80}:\d{2,5}[ \t]+[\w.+@-]{1,80}:"),
        ("cred", (r"(?i)\bcred(?:ential)?s?\b[^\n]{0,40}->[ \t]*[\w.@-]{1,40" r"}:")),
        (
            " -u",
            (
                r"(?<=[ \t])(?:-[uU]|--user(?:name)?)[ \t=]*[^\s=]{1,60}"
                r"[ \t]+(?:[^\n|;&]{0,80}?[ \t])?-(?:p|P|pw|pass)[ \t]+"
            ),
        ),
        (" -pw ", r"[ \t]-pw[ \t]+"),
        (
            "-password",
            (
                r"[ \t][-/]{1,2}[\w-]{0,40}password(?:-plain(?:text)?)?(?:"
                r"[ \t]|[=:])"
            ),
        ),
        ("/password:", r"[ \t]/password:"),
        ("upw ", r"[ \t]-[uo]pw[ \t]+"),
        ("_pw ", r"[ \t](?:user|owner)_pw[ \t]+"),
        (
            "reg_sz",
            (r"(?i)/v[ \t]+\"?\w{0,30}password\"?[ \t][^\n]{0,60}?/d" r"[ \t]+"),
        ),
        ("clear:s:", r"password(?: \d+| clear)?:s:"),
        ("password= ", r"(?i)\bpassword=[ ](?=\S+[ \t]*$)"),
        (
            "key ",
            _DEVICE + r"(?:-key|key|key-string|md5)[ \t]+(?:\d[ \t]+)?(?=[^\s]+("
            r"?:[ \t]+address[^\n]*)?[ \t]*$)",
        ),
        ("md5 ", _DEVICE + r"md5[ \t]+(?:\d[ \t]+)?(?=[^\s]+[ \t]*$)"),
        ("password ", _DEVICE + r"password[ \t]+(?:\d[ \t]+)?(?=[^\s]+[ \t]*$)"),
        (
            "authentication ",
            _DEVICE + r"authentication[ \t]+(?:text[ \t]+)?(?=[^\s]+[ \t]*$)",
        ),
        (
            "secret",
            _DEVICE + r"\w*(?:-|psk)?secret[ \t]+(?:\d[ \t]+)?(?=[^\s]+[ \t]*$)",
        ),
        ("-value", _DEVICE + r"\w[\w-]*password-value[ \t]+(?=[^\s]+[ \t]*$)"),
        ("option key", r"(?m)^[ \t]*option[ \t]+key[ \t]+(?=['\"])"),
        ("snmp", r"snmp\w{1,20}\b[^\n]{0,200}? -X[ \t]+"),
        ("identified by", r"(?i)\bidentified[ \t]+by[ \t]+(?=\w+[ \t]*;)"),
        (
            "set password",
            (r"(?i)\bset[ \t]+password[ \t]+for[ \t]+[^\n=]{1,80}=[ \t]" r"*(?=['\"])"),
        ),
        (
            "~*",
            (r"(?i)\b(?:user|setuser)[ \t]+\S{1,60}[ \t]+on[ \t][^\n]{0" r",80}?>"),
        ),
        (
            "mosquitto_passwd",
            (r"mosquitto_passwd[ \t]+-b[ \t]+\S{1,80}[ \t]+\S{1,60}" r"[ \t]+"),
        ),
        ("doveadm auth", r"doveadm auth (?:test|login)[ \t]+\S{1,80}[ \t]+"),
        ("{plain}", r"\{PLAIN\}"),
        ("auth_users", r"auth_users:[ \t]*\r?\n[ \t]+[\w.-]{1,40}:[ \t]*"),
        ("cwjap", r"\+CWJAP\w{0,8}=\"[^\"\n]{1,64}\",(?=\")"),
        (
            "login ",
            (r"(?m)^[ \t\w:>.]{0,16}\bLOGIN[ \t]+\S{1,60}[ \t]+(?=\S+" r"[ \t]*$)"),
        ),
        ("login ", r"(?i)\blogin[ \t]+-u[ \t]+\S{1,60}[ \t]+-p[ \t]+"),
        (
            "new pdo",
            (r"(?i)new[ \t]+PDO\([^,\n]{1,120},[^,\n]{1,60},[ \t]*(?=" r"['\"])"),
        ),
        (
            "mysqli",
            (r"(?i)mysqli(?:_connect)?\([^,\n]{1,60},[^,\n]{1,60},[ \t]" r"*(?=['\"])"),
        ),
        (
            "networkcredential",
            (r"(?i)NetworkCredential\]?(?:::new)?\([^,\n]{1,80},[ \t]*(" r"?=[\"'])"),
        ),
        (
            "basicauth",
            (
                r"(?i)Basic_?Auth\w{0,16}\([ \t]*['\"][^'\"\n]{1,60}['\"],"
                r"[ \t]*(?=['\"])"
            ),
        ),
        (
            "set_password",
            (
                r"(?i)\b(?:set_?password|change_?password|make_?password)"
                r"\([ \t]*(?=['\"])"
            ),
        ),
        ("setpassword", r"\bset_?[Pp]assword\([ \t]*(?=['\"])"),
        (
            "jwt.",
            (
                r"(?i)\bjwt\.(?:sign|encode|verify|decode)\([^,\n]{1,80},"
                r"[ \t]*(?=['\"])"
            ),
        ),
        ("]:", r"\]:\d{2,5}[ \t]+[\w.+@-]{1,80}:"),
        ("auth=", r"(?i)(?<!\w)\w{0,40}auth[\w-]{0,10}=[a-z]{2,20}/"),
        (
            "credential",
            (r"(?i)\bcredentials?[ \t]*[:=][ \t]*[\w.@-]{1,40}:(?=\S+" r"[ \t]*$)"),
        ),
        ("_authtoken", r"_authToken[ \t=]+"),
        ("p-secrets", r"(?:p|c)[ah]+p-secrets[^\n]*\n[^\s#]{1,64}[ \t]+\S{1,64}[ \t]+"),
        ("users=", r"\busers=[\w.@-]{1,40}:"),
        ("radtest", r"radtest[ \t]+\S{1,60}[ \t]+"),
        ("sp_addlogin", r"(?i)sp_addlogin[^\n,]{1,80},[ \t]*(?:@\w+=)?N?(?=')"),
        ("uci set", r"uci set[ \t]+wireless\.[^\s=]{1,60}\.key="),
        ("smbpasswd", r"\(echo[ \t]+(?=[^\n]{4,100}smbpasswd)"),
        ("smbpasswd", r"; echo[ \t]+(?=[^\n)]{4,100}\)[ \t]*\|[^\n|]{0,20}smbpasswd)"),
        ("ascii-text ", _DEVICE + r"ascii-text[ \t]+(?=[^\s]+[ \t]*$)"),
    )
)
"""Word -> all that is before the value."""

PLAIN_WORDS = frozenset(word for word, _ in PLAIN_FORMS)
"""Words without which no text has one of these forms, in lower case."""

_PROMPTS = lazy_re(r"\b(?:mysql|mariadb)[\w-]{0,12}[ \t][^\n|;&]{0,160} -p[ \t]+\Z")


def names_database(found: re.Match[str]) -> bool:
    """Return whether a value only follows an option that asks for the password."""
    start = found.start("value")
    is_asked = _PROMPTS.search(found.string, max(0, start - 200), start) is not None
    return is_asked and found["value"].islower()

"""What a secret is called in many languages: passwords, codes, keys, places to get in.

``handed_over`` reads these words. A language is added here, and in ``handing_words``.
"""

from __future__ import annotations

from enum import IntEnum

from hivemind_memory.model.own_forms import is_own_name
from hivemind_memory.patterns.lazy_pattern import lazy_re
from hivemind_memory.redaction.judgments import asked_once
from hivemind_memory.redaction.prose_words import NETWORK_PARTS, PASSWORD_STEMS
from hivemind_memory.redaction.secret_names import KEY_NAMES, KEYS_ELSEWHERE


class Label(IntEnum):
    """What a word calls the value beside it."""

    PASSWORD = 1
    CODE = 2  # of digits
    ANY_CODE = 3  # of digits where more says so, or of letters and digits
    KEY = 4
    PLACE = 5  # where one is needed to get in
    LOCK = 6  # what digits open


def vocabulary_of(text: str) -> frozenset[str]:
    """Return the words of a text between blanks."""
    return frozenset(text.split())


PASSWORDS = vocabulary_of(
    "password passwords passphrase passphrases passcode passcodes passwd passwds "
    "pw pws pwd pwds pswd psw passwort psk mdp laps пасс пас pasword plain "
    "plaintext cleartext pwort wachtw contraseña codeword safeword losungswort "
    "parola creds credentials cred credential clave claves contra hasło haslo "
    "hasła sandi parol гасло pass-phrase pass-word passkey kata-sandi wachtwoord "
    "logon-pw"
)
CODES = vocabulary_of(
    "pin pins puk puk1 puk2 pin1 pin2 tan otp geheimzahl tunnusluku пин пин-код "
    "pincode pin-code pinkode pin-kod pinkod pinnummer passcode"
)
ANY_CODES = vocabulary_of(
    "code codes kod kodu kodem kod1 código codigo códigos codice codici kód koden "
    "koodi koda combination combo combinaison kombination combinazione "
    "combinación код коды кода digicode zugangscode türcode doorcode kode koodin "
    "رمز الرمز"
)
KEYS = vocabulary_of(
    "key keys apikey api-key token tokens secret secrets pepper seed claim cookie "
    "bearer jeton clé clés clef schlüssel schluessel chiave chave llave sleutel "
    "nyckel nøgle nøkkel avain klucz klíč kulcs ключ токен геhейм geheimnis "
    "segreto segredo secreto"
)
PLACES = vocabulary_of(
    "wifi wi-fi wlan ssid hotspot eduroam login logins log-in logon root admin "
    "administrator sudo zip rar archive vault keepass keepassxc bitwarden "
    "1password luks veracrypt encryption encrypted unlock unlocks unlocked "
    "decrypt account accounts konto compte cuenta conta vpn ssh ftp sftp smtp "
    "imap nas router modem printer drucker imprimante impresora safe lockbox "
    "alarm keypad locker tresor netflix spotify disk drive backup backups mailbox "
    "idrac ipmi ilo bmc rdp vnc tablet laptop ipad imac kiosk tv camera cam phone "
    "tablette portal zugang zugangsdaten accès acceso accesso acesso логин вход "
    "вайфай роутер sign-in signin login: benutzer user username utente usuario "
    "utilisateur guest gast invité ospite postgres mysql mariadb grafana jenkins "
    "db database datenbank pass accesspoint dashboard console панель админка"
)
LOCKS = vocabulary_of(
    "door doors gate garage lockbox safe padlock keypad haustür tür tor tresor "
    "schloss porte portail portillon digicode puerta portón candado caja cancello "
    "porta portone drzwi brama sejf deur poort kluis дверь сейф калитка lock "
    "alarm"
)
WORDS_OF_SECRETS = vocabulary_of(
    "secret safe code magic pass security protection challenge geheimes secreta secreto"
)
EMOJI = "🔑🔐🔒🗝🔓"
STEMS = tuple(stem for stem in PASSWORD_STEMS if stem not in {"geslo", "암호"})
KEY_STEMS = tuple(
    stem
    for stem in (*KEY_NAMES, *KEYS_ELSEWHERE)
    if len(stem) > 3 or not stem.isascii()
)
NETWORKS = tuple(part for part in NETWORK_PARTS if not part.isascii())
CODE_STEMS = (
    "验证码",
    "驗證碼",
    "認証コード",
    "인증번호",
    "код",
    "رمز",
    "暗証番号",
    "門禁",
)


_NO_CODES = vocabulary_of(
    "opcode bytecode unicode encode decode barcode qr-code qrcode source-code "
    "zipcode pseudocode exitcode errorcode transcode vscode geocode xcode "
    "microcode postcode zip-code vs-code opencode machine-code low-code no-code "
    "hardcode recode"
)
_SHORTEST_COMPOUND = 5
_EXACT = {
    **dict.fromkeys(PLACES, Label.PLACE),
    **dict.fromkeys(KEYS, Label.KEY),
    **dict.fromkeys(LOCKS, Label.LOCK),
    **dict.fromkeys(ANY_CODES, Label.ANY_CODE),
    **dict.fromkeys(CODES, Label.CODE),
    **dict.fromkeys(PASSWORDS, Label.PASSWORD),
}
_PARTS = lazy_re(
    rf"(?P<password>[{EMOJI}]|パス(?!ポート)|{'|'.join(STEMS)}"
    r"|pass(?:word|phrase|code)$|-pwd?$)"
    r"|(?P<code>(?:code|-pin)$|^kod(?!ak|iak|ein)[a-zıüöşğ]{2,8}$|"
    rf"{'|'.join(CODE_STEMS)})"
    rf"|(?P<key>{'|'.join(KEY_STEMS)}|-key$|-token$)|(?P<place>{'|'.join(NETWORKS)})"
)
_OF_PARTS = {
    "password": Label.PASSWORD,
    "code": Label.ANY_CODE,
    "key": Label.KEY,
    "place": Label.PLACE,
}
_NO_LABEL = lazy_re(r"[_\\/.=]|.{41}")


def label_of_name(name: str) -> int:
    """Return what a name of a setting calls its value: its last word tells.

    >>> label_of_name("keyPassword") == label_of("password")
    True
    """
    whole = label_of(name.lower())
    if whole:
        return whole
    words = _NAME_WORDS.findall(name)
    return label_of(words[-1].lower()) if words else 0


_NAME_WORDS = lazy_re(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+")


def label_of(low: str) -> int:
    """Return what a word in lower case calls a value; 0: nothing."""
    exact = _EXACT.get(low)
    if exact:
        return exact
    if len(low) < _SHORTEST_COMPOUND and low.isascii():
        return 0
    return _label_of_parts(low)


@asked_once
def _label_of_parts(low: str) -> int:
    """Return what a compound, or a word with an ending, calls a value."""
    found = _PARTS.search(low)
    if not found or _NO_LABEL.search(low) or low in _NO_CODES or is_own_name(low):
        return 0
    return _OF_PARTS[found.lastgroup or ""]


def is_sign(low: str) -> bool:
    """Whether a word is a picture of a key or a lock."""
    return any(sign in low for sign in EMOJI)


_SHORTEST_COMPOUND = 5

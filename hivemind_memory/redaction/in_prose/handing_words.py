"""The words with which people hand over a secret, and how much each one says.

Three tables for ``handed_over``: what a secret is called, what stands between that and
the secret, and what people say of one without calling it so. A language is added here.
"""

from __future__ import annotations

from enum import IntEnum

from hivemind_memory.redaction.judgments import asked_once
from hivemind_memory.redaction.lazy_pattern import lazy_re
from hivemind_memory.redaction.vocabulary import (
    KEY_NAMES,
    KEYS_ELSEWHERE,
    NETWORK_PARTS,
    PASSWORD_STEMS,
)


class Label(IntEnum):
    """What a word calls the value beside it."""

    PASSWORD = 1
    CODE = 2  # of digits
    ANY_CODE = 3  # of digits where more says so, or of letters and digits
    KEY = 4
    PLACE = 5  # where one is needed to get in
    DOOR = 6  # what digits open


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PASSWORDS = _words(
    "password passwords passphrase passphrases passcode passcodes passwd passwds pw pws"
    " pwd pwds pswd psw passwort psk mdp laps пасс пас pasword passwort plain plaintext cleartext pwort wachtw contraseña codeword safeword losungswort parola creds credentials cred credential clave claves contra hasło haslo hasła"
    " pass-phrase pass-word passkey kata-sandi wachtwoord contraseña pwort logon-pw"
)
_CODES = _words(
    "pin pins puk puk1 puk2 pin1 pin2 tan otp geheimzahl tunnusluku пин пин-код"
    " pincode pin-code pinkode pin-kod pinkod pinnummer passcode"
)
ANY_CODES = _words(
    "code codes kod kodu kodem kod1 código codigo códigos codice codici kód koden koodi"
    " koda combination combo combinaison kombination combinazione combinación код коды"
    " кода digicode zugangscode türcode doorcode kode koodin رمز الرمز"
)
_KEYS = _words(
    "key keys apikey api-key token tokens secret secrets pepper"
    " seed claim cookie bearer jeton clé clés clef"
    " schlüssel schluessel chiave chave llave sleutel nyckel nøgle nøkkel avain klucz"
    " klíč kulcs ключ токен геhейм geheimnis segreto segredo secreto"
)
_PLACES = _words(
    "wifi wi-fi wlan ssid hotspot eduroam login logins log-in logon root admin"
    " administrator sudo zip rar archive vault keepass keepassxc bitwarden 1password"
    " luks veracrypt encryption encrypted unlock unlocks unlocked decrypt account"
    " accounts konto compte cuenta conta vpn ssh ftp sftp smtp imap nas router modem"
    " printer drucker imprimante impresora safe lockbox alarm keypad locker tresor"
    " netflix spotify disk drive backup backups mailbox idrac ipmi ilo bmc rdp vnc"
    " tablet laptop ipad imac kiosk tv camera cam phone tablette portal zugang zugangsdaten accès acceso accesso acesso логин вход вайфай роутер"
    " sign-in signin login: benutzer user username utente usuario utilisateur guest"
    " gast invité ospite postgres mysql mariadb grafana jenkins db database datenbank"
    " pass accesspoint dashboard console панель админка"
)
DOORS = _words(
    "door doors gate garage lockbox safe padlock keypad haustür tür tor tresor schloss porte"
    " portail portillon digicode puerta portón candado caja cancello porta portone drzwi"
    " brama sejf deur poort kluis дверь дверь сейф калитка lock alarm"
)
WORDS_OF_SECRETS = _words("secret safe code magic pass security protection challenge geheimes secreta secreto")
_EMOJI = "🔑🔐🔒🗝🔓"
_STEMS = tuple(stem for stem in PASSWORD_STEMS if stem not in {"geslo", "암호"})
_KEY_STEMS = tuple(
    stem for stem in (*KEY_NAMES, *KEYS_ELSEWHERE) if len(stem) > 3 or not stem.isascii()
)
_NETWORKS = tuple(part for part in NETWORK_PARTS if not part.isascii())
CODE_STEMS = ("验证码", "驗證碼", "認証コード", "인증번호", "код", "رمز", "暗証番号", "門禁")


_NO_CODES = _words(
    "opcode bytecode unicode encode decode barcode qr-code qrcode source-code zipcode"
    " pseudocode exitcode errorcode transcode vscode geocode xcode microcode decode"
    " postcode zip-code vs-code opencode machine-code low-code no-code hardcode recode"
)
_SHORTEST_COMPOUND = 5
_EXACT = {
    **dict.fromkeys(_PLACES, Label.PLACE),
    **dict.fromkeys(_KEYS, Label.KEY),
    **dict.fromkeys(DOORS, Label.DOOR),
    **dict.fromkeys(ANY_CODES, Label.ANY_CODE),
    **dict.fromkeys(_CODES, Label.CODE),
    **dict.fromkeys(_PASSWORDS, Label.PASSWORD),
}
_PARTS = lazy_re(
    rf"(?P<password>[{_EMOJI}]|パス(?!ポート)|{'|'.join(_STEMS)}|pass(?:word|phrase|code)$|-pwd?$)"
    rf"|(?P<code>(?:code|-pin)$|^kod(?!ak|iak|ein)[a-zıüöşğ]{2,8}$|{'|'.join(CODE_STEMS)})"
    rf"|(?P<key>{'|'.join(_KEY_STEMS)}|-key$|-token$)|(?P<place>{'|'.join(_NETWORKS)})"
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
    if not found or _NO_LABEL.search(low) or low in _NO_CODES:
        return 0
    return _OF_PARTS[found.lastgroup or ""]


def is_sign(low: str) -> bool:
    """Whether a word is a picture of a key or a lock."""
    return any(sign in low for sign in _EMOJI)


_SHORTEST_COMPOUND = 5
COPULAS = _words(
    "is = == === : ： ＝ → -> => was are were be became becomes remains stays reads says now ist"
    " war lautet lautete heißt heisst bleibt wird est était c'est c’est devient reste es"
    " era está será son è diventa resta é são foi fica jest było było: wordt blijft"
    " geworden je bylo bude este är var heter er hedder ble blev oli olan oldu это стал"
    " стала теперь сейчас є тепер είναι היא הוא هي هو है là คือ adalah は が を 是 为 為"
    " 改成 改为 은 는 이 가 을 를 it's it’s its that's thats that’s aka namely nämlich"
    " := ⇒ ➜ ➔ ist: lautet: c'était it’ll being yaitu 就是 です equals"
)
"""What says that the value that follows is what was called a secret before."""

LEADS = _words(
    "accepts accepts: takes wants akzeptiert accepte acepta accetta so instead use using try type enter with mit avec con com met by via probier"
    " versuch nimm benutze eingeben tippe essaie essaye tape utilise prueba usa escribe"
    " teclea prova scrivi digita tenta spróbuj wpisz użyj probeer gebruik prøv testa"
    " попробуй используй введи введите dene yaz – — - | , ; / (= ( ["
    " i.e. ie viz → chose picked choose called saved remember"
)
"""What may lead from the name of a secret to its value."""

MOVES = _words(
    "changed change changing reset set setting rotated updated switched moved became"
    " geändert ändern gesetzt gestellt umgestellt setze remis mis changé change modifié"
    " cambiado cambié cambiamos cambiata cambiato puse puesto mudei mudou troquei alterei"
    " mudamos impostata impostato messo zmieniłem zmienione zmieniono ustawiłem ustawione"
    " gewijzigd veranderd ingesteld ändrade ändrat satt сменил сменили поменял поменяли"
    " поставил изменён değiştirdim değiştirildi yaptım made lautet bumped replaced"
    " swapped put gave given made defaulted"
)
"""Verbs behind which ``to`` leads to what a secret is now."""

TO = _words("to auf à a na para naar til till на в into als as as: for: zu")
"""What leads to a value after one of ``MOVES``."""

BACK = _words(
    "is was <- <-- <= ← as als comme como come jako ist war est es è é это como: = - –"
    " — ( , for für pour para per для unlocks opens decrypts öffnet entsperrt"
    " ouvre abre apre otwiera works goes ist's should will does gets lets"
)
"""What leads from a value back to its name."""

BACK_ALONE = _words("gets lets unlocks opens decrypts öffnet entsperrt ouvre abre apre")
"""What says of a value that it opens something, whatever that is called."""

SAID_OF_IT = {
    **dict.fromkeys(_words("try type probier tippe nimm essaie prueba prova"), 1.5),
    **dict.fromkeys(_words("enter eingeben anymore lowercase uppercase"), 1.0),
    **dict.fromkeys(_words("kleingeschrieben großgeschrieben minuscules mayúscula"), 1.0),
    **dict.fromkeys(_words("capital caps quotes typed forgot forget vergessen"), 1.0),
    **dict.fromkeys(_words("old alt alte altes ancien viejo vieja vecchia stare"), 1.0),
    **dict.fromkeys(_words("rotate rotated expires temporary temp temporär throwaway"), 0.8),
    **dict.fromkeys(_words("again nochmal wieder share weitergeben"), 0.5),
    **dict.fromkeys(_words("works still underscore exclamation zero spaces"), 0.7),
    **dict.fromkeys(_words("verification confirm sign-in security door gate garage"), 1.0),
    **dict.fromkeys(_words("domofonu alarm alarmu entrance building porte portail"), 1.0),
    **dict.fromkeys(_words("подъезд домофон puerta portón portone haustür tür"), 1.0),
    **dict.fromkeys(_words("install pairing recovery backup unlock sms verify"), 0.7),
}  # fmt: skip
"""Words of a line that speaks of a secret; two count at most."""

SAID_OF_DIGITS = dict.fromkeys(
    _words(
        "verification door gate garage domofonu domofon alarm alarmu entrance building"
        " porte portail portillon подъезд подъезда домофон домофона puerta portón portone"
        " haustür tür tor deur poort lockbox safe tresor coffre caja cassaforte sejf"
        " locker padlock schloss cadenas candado lucchetto elevator keypad card karte"
        " carte tarjeta carta sim phone handy security bike suitcase koffer voicemail 2fa mfa otp lock للخزنة الباب"
    ),
    1.0,
)
"""The same for digits."""

NOT_OF_IT = {
    **dict.fromkeys(_words("hash sha sha1 sha256 md5 checksum digest fingerprint"), 2.5),
    **dict.fromkeys(_words("see siehe zie voir véase vedi zob. см. foránea foreign primary"), 2.0),
    **dict.fromkeys(_words("gpg keyid keyid: imported signed-by pgp keyring"), 2.0),
    **dict.fromkeys(_words("commit revision identifier trace-id public öffentlich publique serial"), 3.0),
    **dict.fromkeys(_words("example e.g. z.b. beispiel exemple placeholder regex"), 2.0),
    **dict.fromkeys(_words("version release build branch ticket issue model variable"), 1.5),
    **dict.fromkeys(_words("postal zip-code country error exit status field column"), 1.5),
    **dict.fromkeys(_words("contract algorithm cipher format function method class"), 1.5),
    **dict.fromkeys(_words("error: fehler tracking order invoice postcode plz"), 1.5),
    **dict.fromkeys(_words("named value property parameter option flag module file"), 0.8),
}  # fmt: skip
"""Words of a line whose values are rather something else."""

NOUNS = _words(
    "user username users account name login id host server file files path branch commit"
    " version release field column table model port ticket issue build variable function"
    " class method type format algorithm email e-mail mail domain url benutzer nutzer"
    " utilisateur usuario utente юзер пользователь логин key-id ssid network netzwerk"
    " manager policy hash policies requirements test tests encoding protocol library"
)
"""A word that calls the value right behind it something that is no secret."""

OTHER_CODES = _words(
    "status zip postal exit error country area source qr response return color colour"
    " currency language tax product promo discount coupon vat iban swift morse class"
)
"""Before ``code`` these say that it is one that opens nothing."""

UNITS = _words("ms s sec seconds minutes min hours h days lines bytes kb mb gb entries rows px %")
FOLLOWS_LABEL = _words(
    "manager managers policy policies hash hashes field fields file files store storage"
    " reset resets prompt length hint strength generator rotation format protected-by"
    " encryption hashing input toggle column env variable variables auth vault expired"
    " requirements validation page form id name names path service box dialog algorithm encoding based grant type"
)
"""Behind the name of a secret these say that the line speaks of something else."""

NETWORKS = _words(
    "wifi wi-fi wlan ssid hotspot eduroam wpa wpa2 wpa3 router modem вайфай guest-wifi"
)
"""Words of a line on which a key is that of a wireless network."""

ENGLISH = _words(
    "password passwords passphrase passcode passwd pw pwd pass key keys token tokens secret"
    " secrets code codes pin pins login root admin account backup wifi wi-fi sudo zip vpn"
    " door alarm gate safe lock garage ssh license credentials creds credential vault unlock encryption guest user username"
)
"""Names of secrets beside which ``to`` and ``a`` are words of English."""

ASKING = _words(
    "try type enter put poner pon introducir probier tippe nimm versuch essaie essaye prueba prova spróbuj"
    " probeer prøv попробуй dene"
)
"""What a person who is asked for a secret says before it."""

OPENING = _words(
    "opens opened unlocks unlocked decrypts encrypted protected locked öffnet entsperrt"
    " verschlüsselt gesperrt geschützt ouvre chiffré protégé verrouillé abre cifrado"
    " protegido bloqueado apre cifrato protetto otwiera zaszyfrowany chronione открывается"
    " зашифрован opent versleuteld öppnas"
)
WITH = _words("with by using mit avec par con com por met hasłem z паролем med via")
"""What leads to that with which something is opened."""

SETTERS = _words("env arg set setx setenv export -e --env --build-arg")
"""What the name of a setting and its value follow, with a blank between."""

THATS = _words("that's thats that’s which c'est das es eso esto to it's")
ARROWS_BACK = _words("<- <-- <= ← <---")
HEADS = _words(
    "logins passwords pws creds credentials zugangsdaten zugänge passwörter kennwörter"
    " accès identifiants accesos contraseñas accessi senhas acessos hasła loginy пароли"
    " доступы wachtwoorden lösenord secrets keys accounts konten comptes cuentas unseal shares streaming 密码 密碼"
    " パスワード şifreler hesaplar codes pins"
)
"""Names of lists of secrets."""
SHORT_SURE_WORDS = frozenset(word for word in (*_PASSWORDS, *_CODES) if len(word) < 7)
SURE_WORDS = frozenset((*_PASSWORDS, *_CODES, *_EMOJI, *_STEMS, "パス", "secret word", "one word", "magic word", "safe word", "code word", "security word",
    "protection word", "challenge word", "password word", "basic auth", "gets you in", "lets you in",
    "combination", "kombination", "combinaison", "combinación", "combinazione", "lowercase",
    "kleingeschrieben", "minuscul", "minúscul", "maiuscol", "all caps"))
LONG_SURE_WORDS = SURE_WORDS - SHORT_SURE_WORDS
"""A line with one of these is read, whatever else is on it."""

GATE_WORDS = frozenset((
    "auth", "kod",
    *SURE_WORDS, *OPENING, *ANY_CODES, *_KEYS, *_PLACES, *DOORS, *HEADS, *_KEY_STEMS, *_NETWORKS, "code", *CODE_STEMS,
    *(word for word in ASKING if len(word) > 3), "try ",
))  # fmt: skip
"""One of these is on each line that is read, or on one of the lines above it."""

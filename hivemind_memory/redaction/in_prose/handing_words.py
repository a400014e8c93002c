"""The words with which people hand over a secret, and how much each one says.

What stands between the name of a secret and the secret, and what people say of one
without calling it so.
"""

from __future__ import annotations

from hivemind_memory.redaction.in_prose import handing_labels as labels
from hivemind_memory.redaction.in_prose.handing_labels import vocabulary_of

COPULAS = vocabulary_of(
    "is = == === : ： ＝ → -> => was are were be became becomes remains stays reads "
    "says now ist war lautet lautete heißt heisst bleibt wird est était c'est "
    "c’est devient reste es era está será son è diventa resta é são foi fica jest "
    "było było: wordt blijft geworden je bylo bude este är var heter er hedder "
    "ble blev oli olan oldu это стал стала теперь сейчас є тепер είναι היא הוא هي "
    "هو है là คือ adalah は が を 是 为 為 改成 "
    "改为 은 는 이 가 을 를 it's it’s its that's thats "
    "that’s aka namely nämlich := ⇒ ➜ "
    "➔ ist: lautet: c'était it’ll being yaitu 就是 "
    "です equals"
)
"""What says that the value that follows is what was called a secret before."""

LEADS = vocabulary_of(
    "accepts accepts: takes wants akzeptiert accepte acepta accetta so instead "
    "use using try type enter with mit avec con com met by via probier versuch "
    "nimm benutze eingeben tippe essaie essaye tape utilise prueba usa escribe "
    "teclea prova scrivi digita tenta spróbuj wpisz użyj probeer gebruik prøv "
    "testa попробуй используй введи введите dene yaz – — - | , ; / (= ( [ i.e. ie "
    "viz → chose picked choose called saved remember"
)
"""What may lead from the name of a secret to its value."""

MOVES = vocabulary_of(
    "changed change changing reset set setting rotated updated switched moved "
    "became geändert ändern gesetzt gestellt umgestellt setze remis mis changé "
    "modifié cambiado cambié cambiamos cambiata cambiato puse puesto mudei mudou "
    "troquei alterei mudamos impostata impostato messo zmieniłem zmienione "
    "zmieniono ustawiłem ustawione gewijzigd veranderd ingesteld ändrade ändrat "
    "satt сменил сменили поменял поменяли поставил изменён değiştirdim "
    "değiştirildi yaptım made lautet bumped replaced swapped put gave given "
    "defaulted"
)
"""Verbs behind which ``to`` leads to what a secret is now."""

TO = vocabulary_of("to auf à a na para naar til till на в into als as as: for: zu")
"""What leads to a value after one of ``MOVES``."""

BACK = vocabulary_of(
    "is was <- <-- <= ← as als comme como come jako ist war est es è é это como: "
    "= - – — ( , for für pour para per для unlocks opens decrypts öffnet "
    "entsperrt ouvre abre apre otwiera works goes ist's should will does gets "
    "lets"
)
"""What leads from a value back to its name."""

BACK_ALONE = vocabulary_of(
    "gets lets unlocks opens decrypts öffnet entsperrt ouvre abre apre"
)
"""What says of a value that it opens something, whatever that is called."""

SAID_OF_IT = {
    **dict.fromkeys(
        vocabulary_of(
            "try type probier tippe nimm essaie prueba prova"
        ),
        1.5,
    ),
    **dict.fromkeys(
        vocabulary_of(
            "enter eingeben anymore lowercase uppercase"
        ),
        1.0,
    ),
    **dict.fromkeys(
        vocabulary_of(
            "kleingeschrieben großgeschrieben minuscules mayúscula"
        ),
        1.0,
    ),
    **dict.fromkeys(
        vocabulary_of(
            "capital caps quotes typed forgot forget vergessen"
        ),
        1.0,
    ),
    **dict.fromkeys(
        vocabulary_of(
            "old alt alte altes ancien viejo vieja vecchia stare"
        ),
        1.0,
    ),
    **dict.fromkeys(
        vocabulary_of(
            "rotate rotated expires temporary temp temporär throwaway"
        ),
        0.8,
    ),
    **dict.fromkeys(
        vocabulary_of(
            "again nochmal wieder share weitergeben"
        ),
        0.5,
    ),
    **dict.fromkeys(
        vocabulary_of(
            "works still underscore exclamation zero spaces"
        ),
        0.7,
    ),
    **dict.fromkeys(
        vocabulary_of(
            "verification confirm sign-in security door gate garage"
        ),
        1.0,
    ),
    **dict.fromkeys(
        vocabulary_of(
            "domofonu alarm alarmu entrance building porte portail"
        ),
        1.0,
    ),
    **dict.fromkeys(
        vocabulary_of(
            "подъезд домофон puerta portón portone haustür tür"
        ),
        1.0,
    ),
    **dict.fromkeys(
        vocabulary_of(
            "install pairing recovery backup unlock sms verify"
        ),
        0.7,
    ),
}  # fmt: skip
"""Words of a line that speaks of a secret; two count at most."""

SAID_OF_DIGITS = dict.fromkeys(
    vocabulary_of(
        "verification door gate garage domofonu domofon alarm alarmu entrance building"
        " porte portail portillon подъезд подъезда "
        "домофон домофона puerta portón portone"
        " haustür tür tor deur poort lockbox safe tresor coffre caja cassaforte sejf"
        " locker padlock schloss cadenas candado lucchetto elevator keypad card karte"
        " carte tarjeta carta sim phone handy security bike "
        "suitcase koffer voicemail 2fa mfa otp lock للخزنة الباب"
    ),
    1.0,
)
"""The same for digits."""

NOT_OF_IT = {
    **dict.fromkeys(
        vocabulary_of(
            "hash sha sha1 sha256 md5 checksum digest fingerprint"
        ),
        2.5,
    ),
    **dict.fromkeys(
        vocabulary_of(
            "see siehe zie voir véase vedi zob. см. foránea foreign primary"
        ),
        2.0,
    ),
    **dict.fromkeys(
        vocabulary_of(
            "gpg keyid keyid: imported signed-by pgp keyring"
        ),
        2.0,
    ),
    **dict.fromkeys(
        vocabulary_of(
            "commit revision identifier trace-id public öffentlich publique "
            "serial"
        ),
        3.0,
    ),
    **dict.fromkeys(
        vocabulary_of(
            "example e.g. z.b. beispiel exemple placeholder regex"
        ),
        2.0,
    ),
    **dict.fromkeys(
        vocabulary_of(
            "version release build branch ticket issue model variable"
        ),
        1.5,
    ),
    **dict.fromkeys(
        vocabulary_of(
            "postal zip-code country error exit status field column"
        ),
        1.5,
    ),
    **dict.fromkeys(
        vocabulary_of(
            "contract algorithm cipher format function method class"
        ),
        1.5,
    ),
    **dict.fromkeys(
        vocabulary_of(
            "error: fehler tracking order invoice postcode plz"
        ),
        1.5,
    ),
    **dict.fromkeys(
        vocabulary_of(
            "named value property parameter option flag module file"
        ),
        0.8,
    ),
}  # fmt: skip
"""Words of a line whose values are rather something else."""

NOUNS = vocabulary_of(
    "user username users account name login id host server file files path branch "
    "commit version release field column table model port ticket issue build "
    "variable function class method type format algorithm email e-mail mail "
    "domain url benutzer nutzer utilisateur usuario utente юзер пользователь "
    "логин key-id ssid network netzwerk manager policy hash policies requirements "
    "test tests encoding protocol library"
)
"""A word that calls the value right behind it something that is no secret."""

OTHER_CODES = vocabulary_of(
    "status zip postal exit error country area source qr response return color "
    "colour currency language tax product promo discount coupon vat iban swift "
    "morse class"
)
"""Before ``code`` these say that it is one that opens nothing."""

UNITS = vocabulary_of(
    "ms s sec seconds minutes min hours h days lines bytes kb mb gb entries rows px %"
)
FOLLOWS_LABEL = vocabulary_of(
    "manager managers policy policies hash hashes field fields file files store "
    "storage reset resets prompt length hint strength generator rotation format "
    "protected-by encryption hashing input toggle column env variable variables "
    "auth vault expired requirements validation page form id name names path "
    "service box dialog algorithm encoding based grant type"
)
"""Behind the name of a secret these say that the line speaks of something else."""

NETWORKS = vocabulary_of(
    "wifi wi-fi wlan ssid hotspot eduroam wpa wpa2 wpa3 router modem вайфай guest-wifi"
)
"""Words of a line on which a key is that of a wireless network."""

ENGLISH = vocabulary_of(
    "password passwords passphrase passcode passwd pw pwd pass key keys token "
    "tokens secret secrets code codes pin pins login root admin account backup "
    "wifi wi-fi sudo zip vpn door alarm gate safe lock garage ssh license "
    "credentials creds credential vault unlock encryption guest user username"
)
"""Names of secrets beside which ``to`` and ``a`` are words of English."""

ASKING = vocabulary_of(
    "try type enter put poner pon introducir probier tippe nimm versuch essaie "
    "essaye prueba prova spróbuj probeer prøv попробуй dene"
)
"""What a person who is asked for a secret says before it."""

OPENING = vocabulary_of(
    "opens opened unlocks unlocked decrypts encrypted protected locked öffnet "
    "entsperrt verschlüsselt gesperrt geschützt ouvre chiffré protégé verrouillé "
    "abre cifrado protegido bloqueado apre cifrato protetto otwiera zaszyfrowany "
    "chronione открывается зашифрован opent versleuteld öppnas"
)
WITH = vocabulary_of(
    "with by using mit avec par con com por met hasłem z паролем med via"
)
"""What leads to that with which something is opened."""

SETTERS = vocabulary_of("env arg set setx setenv export -e --env --build-arg")
"""What the name of a setting and its value follow, with a blank between."""

THATS = vocabulary_of("that's thats that’s which c'est das es eso esto to it's")
ARROWS_BACK = vocabulary_of("<- <-- <= ← <---")
HEADS = vocabulary_of(
    "logins passwords pws creds credentials zugangsdaten zugänge passwörter "
    "kennwörter accès identifiants accesos contraseñas accessi senhas acessos "
    "hasła loginy пароли доступы wachtwoorden lösenord secrets keys accounts "
    "konten comptes cuentas unseal shares "
    "streaming 密码 密碼 パスワード şifreler hesaplar "
    "codes pins"
)
"""Names of lists of secrets."""
SHORT_SURE_WORDS = frozenset(
    word for word in (*labels.PASSWORDS, *labels.CODES) if len(word) < 7
)
SURE_WORDS = frozenset(
    (
        *labels.PASSWORDS,
        *labels.CODES,
        *labels.EMOJI,
        *labels.STEMS,
        "パス",
        "secret word",
        "one word",
        "magic word",
        "safe word",
        "code word",
        "security word",
        "protection word",
        "challenge word",
        "password word",
        "basic auth",
        "gets you in",
        "lets you in",
        "combination",
        "kombination",
        "combinaison",
        "combinación",
        "combinazione",
        "lowercase",
        "kleingeschrieben",
        "minuscul",
        "minúscul",
        "maiuscol",
        "all caps",
    )
)
LONG_SURE_WORDS = SURE_WORDS - SHORT_SURE_WORDS
"""A line with one of these is read, whatever else is on it."""

GATE_WORDS = frozenset((
    "auth", "kod",
    *SURE_WORDS, *OPENING, *labels.ANY_CODES, *labels.KEYS, *labels.PLACES,
    *labels.LOCKS, *HEADS,
    *labels.KEY_STEMS, *labels.NETWORKS, "code", *labels.CODE_STEMS,
    *(word for word in ASKING if len(word) > 3), "try ",
))  # fmt: skip
"""One of these is on each line that is read, or on one of the lines above it."""

PARTS_OF_WORDS = frozenset((
    *labels.EMOJI, *labels.STEMS, *labels.KEY_STEMS, *labels.NETWORKS,
    *labels.CODE_STEMS, "kod", "minuscul", "maiuscol", "try ",
))  # fmt: skip
"""Those of them that say the same as a part of a longer word."""

COUNTED = vocabulary_of("tokens keys secrets codes passwords pins logins accounts")
"""Behind a number these only say how many there are: ``84 tokens``."""

NAMES_OF_FIELDS = vocabulary_of("plain")
"""Words that call something a password where a sign leads from them to it."""

HOMOGRAPHS = vocabulary_of("tan")
"""Words that are a name of a secret in capitals alone: ``TAN`` of a bank."""

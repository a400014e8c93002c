"""The words with which people state a password, a code or a key, in many languages.

``statements`` reads them: each is a pattern of whole words, as people write them, with
the endings of the language. The words that a text is searched for first are in
``prose_words``.
"""

from __future__ import annotations

from hivemind_memory.patterns.lazy_pattern import lazy_re
from hivemind_memory.redaction.prose_words import PASSWORD_STEMS

_END = r"(?![^\W\d_]|[_(\[])"
_NO_LETTER = r"(?<![^\W\d_])(?<![_$@.])"
_SHORT = [stem for stem in PASSWORD_STEMS if stem.isascii() and len(stem) < 7]
_LONG = [stem for stem in PASSWORD_STEMS if stem not in _SHORT]
PASSWORD = lazy_re(
    # None within a number in base64.
    r"(?i)(?<![\w$@./+])(?:pass(?:words?|phrases?|codes?|wds?|keys?)|pw[ds]?|mdp|laps"
    r"|claves?|has[lł](?:o|em|a)|pass(?=[ \t]?[:=])|(?<=, )pass)(?![\w(\[+/])"
    rf"|(?:(?<![\w+/])(?:{'|'.join(_SHORT)})|{'|'.join(_LONG)})(?:[^\W\d_\u2e80-\uffff]{{0,6}}){_END}"
    r"|密码|密碼|口令|パスワード|パスフレーズ|暗証番号|合言葉|비밀번호|비번|패스워드|암호"
)
OPENED = lazy_re(
    r"(?i)(?<![^\W\d_])(?:(?:en|de)crypted|(?:un)?locked|unlocks?|opens|decrypts?"
    r"|protected|verschlüsselt|entschlüsseln|gesperrt|entsperren"
    r"|geschützt"
    r"|öffnet(?: sich)?|chiffrée?|s'ouvre|se abre|cifrad[ao]|si apre|cifrat[ao]"
    r"|versleuteld"
    r"|geopend|zaszyfrowan\w|otwiera się|зашифрован\w*|открывается)[ ]"
    r"(?:with|by|mit|avec|con|com|met|hasłem|med|using|паролем)(?![^\W\d_])"
    r"|(?:(?:security|secret) (?:answer|question)|sicherheitsfrage|réponse secrète"
    r"|respuesta secreta|risposta segreta|first pet)(?![^\W\d_])"
)
"""What a password follows that nothing calls one."""
SHARED = lazy_re(
    r"(?i)(?<![^\W\d_])(?:snmp\w{0,3}[ -]community(?:[ -](?:string|name))?"
    r"|community[ -]string|erlang[ -]cookie|(?:wi-?fi|wlan)[ -]code"
    r"|(?:codes?|códigos?|codigos?|codice) (?:d[ueo] |del |della )?(?:wi-?fi|wlan))"
    r"(?![^\W\d_]|[_(\[.])"
)
"""What many share to get in, under a name other than password."""
SOFT = lazy_re(
    r"(?i)(?<![^\W\d_])(?:creds?|credentials?|log-?ins?|log(?:ged)?[ -]in"
    r"|sign(?:ed)?[ -]in"
    r"|get in(?:to)?|sudo|root|admin(?:istrator)?|auth|zugang(?:sdaten)?|anmeld\w{2,8}"
    r"|einloggen|connexion|connecter|acceso|accesso|acced\w{1,5}|inlog\w{0,8}|logga in"
    r"|logowani\w{1,3}|přihlá\w{3,8}|вход\w{0,3}|войти|логин\w{0,2}|user|account"
    r"|rotated|keepass\w{0,4}|luks|cryptsetup|veracrypt|vault|master|unlock|decrypt"
    r"|bitwarden|1password|restic|borg|usuario|utente|utilisateur|identifiants?"
    r"|benutzer"
    r"|gebruiker|użytkownik|laps|read out|pass)(?![^\W\d_]|[_(])"
    r"|ログイン|登录|登錄|登入|로그인|账号|帐号|アカウント"
)
"""Words beside which a password may be that looks like one."""
MADE = lazy_re(
    r"(?i)(?<![^\W\d_])(?<![_$@.-])(?:(?:api|access|secret|private|auth|license"
    r"|integration"
    r"|webhook|deploy|service|admin|signing|master|encryption|product|app|account|bot"
    r"|refresh|session|bearer|personal|id)[- ]?(?:keys?|tokens?|secret)"
    r"|(?:clé|clave|chiave|chave) (?:secr[eè]t[ea]|privée?|privad[ao]|privata|d'api"
    r"|de api"
    r"|api|segreta|d'accès|de acceso|di accesso|de acesso|maître)"
    r"|(?:(?:geheimer?|privater?|api)[ -]?)schlüssel|klucz\w? (?:api|tajny|prywatny"
    r"|dostępu)"
    r"|ключ\w? (?:api|доступа)|(?:api[- ]|секретный |закрытый )ключ|"
    r"api[- ]?(?:キー|密钥"
    r"|sleutel"
    r"|nyckel|nøgle|nøkkel|avain|klíč|kulcs)|tokens?|jeton|secret|seed"
    r"|токен\w{0,2})(?![^\W\d_]|[_(\[.])|令牌|トークン|토큰|密钥|密鑰|シークレット"
)
"""A key or token that a machine has made."""
FROM = frozenset(
    (
        "from", "von", "de", "da", "z", "od", "från", "fra", "van", "с", "з", "от",
        "dal", "del", "du",
    )
)  # fmt: skip
CODE = lazy_re(
    r"(?i)(?:(?<![^\W\d_])(?<![_$@.])(?:pin|puk)[12]?(?:[- ]?(?:code"
    r"|kod\w{0,3}"
    r"|codes|nummer|number))?s?(?![^\W\d_]|[_(\[.=])"
    r"|(?<![_$@.])(?:(?<!error )(?<!status )(?<!exit )(?<!return )(?<!returns )"
    r"(?<!returned )(?<!source )(?<!zip )"
    r"(?<!postal )(?<!qr )(?<!area )(?<!country )(?<!bar)(?<!uni)(?<!op)(?<!en)(?<!de)"
    r"(?<!error[-_])(?<!status[-_])(?<!exit[-_])(?<!response )(?<!result )(?<!byte)"
    r"(?<!trans)codes?(?![ -](?:path|page|name|freeze|point|unit|review|base|block|line"
    r"|coverage|gen|size|change|sample|snippet|example|is the|postal|source|client"
    r"|article|produit|promo|erreur|d'erreur|iban|swift))"
    r"|(?<!en)(?<!de)kod(?:y|en|er|u|e|er)?(?! (?:poczt|pošt|błęd|rabat|źród|chyb))"
    r"|kód\w{0,3}|koodi\w{0,3}|codici|codice(?! (?:fiscal|client|postal|iban|scont"
    r"|error|sorg))"
    r"|c[oó]digos?(?! (?:postal|fuente|de (?:error|barras|descuento|área)|fiscal"
    r"|fonte))|combination|kombination|combinaison|combinaci[oó]n"
    r"|combinazione|kombinacja|geheimzahl|tunnusluku\w{0,3}|код\w{0,3}|пин\w{0,5}"
    rf"|κωδικ\w{{1,3}}|קוד|رمز|कोड|mã|รหัส){_END}|暗証番号|密码|密碼|비밀번호)"
)
SURE_CODE = lazy_re(
    r"(?<![^\W\d_])(?:PIN|Pin|PUK|[A-Za-z]{2,12}-?PIN)[12]?(?![^\W\d_]|[_(\[.=])"
    r"|(?i:pin[12]?(?=(?:[ ]\w{1,12}){0,3}(?:[ \t]{0,3}[:=]"
    r"|[ \t]{2,12})[ \t]{0,8}\d{4})"
    r"|geheimzahl|tunnusluku|暗証番号|пин-?код|pin-?(?:code|kod)|голосов)"
)
"""A word for a code of digits that needs no place beside it."""
PLACE = lazy_re(
    r"(?i)(?<![^\W\d_])(?:(?:front|back|side|garage)?[ -]?doors?|gates?|alarms?|safe"
    r"|(?:pad|bike|luggage|bicycle|door|smart|combination)?[ -]?locks?|lockbox|locker"
    r"|garage|keypad|key ?box|entrance|entry|building|shed|elevator|intercom|luggage"
    r"|suitcase|sims?|cards?|phone|iphone|tablet|ipad|voicemail|mailbox|ledger|trezor"
    r"|vault|bike|zoom|meeting|webinar|conference|kiosk|storage unit|caravan|scooter"
    r"|[a-zäöüß]{0,16}(?:tür|tuer|tresor|schloss|karte|koffer|alarmanlage)|tor|fahrrad"
    r"|briefkasten|handy|mailbox|schuppen|porte|portail|digicode|coffre|cadenas|entrée"
    r"|immeuble|carte|boîte à clés|puerta|portal|caja|candado|tarjeta|garaje|m[oó]vil"
    r"|porta|cancello|portone|cassaforte|allarme|lucchetto|citofono|carta|cartão|portão"
    r"|cofre|telemóvel|alarme|[a-z]{0,10}deur|poort|kluis|\w{0,8}slot|fiets|bankpas"
    r"|drzwi|furtk\w|bram\w|domofon\w{0,2}|sejf\w{0,2}|alarmu|kłódk\w|kart[aęy]|dveř\w"
    r"|brán\w|trezor\w{0,2}|zámk\w|ajtó|kapu|riaszt\w+|széf|dörr\w*|port(?=kod)|larm"
    r"|kassaskåp|dør\w*|pengeskab|ovi|oven|hälytys\w*|kasa|kapı\w*|telefon\w*|bluetooth"
    r"|pairing|homekit|parental|2fa|tv)(?:s|n|en|et|code|kod|kode|koodi|codes)?"
    r"(?![^\W\d_])|домофон|двер|сейф|ворот|подъезд|сигнализац|карт[аыу]|телефон"
    r"|шлагбаум"
    r"|гараж|πόρτα|συναγερμ|דלת|باب|门禁|大门|保险箱|门锁|金庫|玄関|금고|현관|cửa|ประตู"
)
KEY = lazy_re(
    rf"(?i){_NO_LETTER}(?:keys?|psk|cl[ée]s?|clefs?|clave|llave|chiave|chave|klíč|kulcs"
    rf"|avain|klucz\w{{0,2}}|anahtar\w{{0,3}}|ключ\w{{0,2}}|κλειδ\w{{1,2}}|khóa|kunci"
    rf"|code|passcode){_END}"
    r"|(?:schlüssel|schluessel|sleutel|nyckel|nøgle|nøkkel)n?(?![^\W\d_])"
    r"|מפתח|مفتاح|कुंजी|密钥|密鑰|秘钥|キー|키|กุญแจ"
)
ONE_TIME = lazy_re(
    r"(?i)(?<![^\W\d_])(?:(?:2fa|mfa|t?otp|two-factor)(?:[ -](?:backup|recovery|code"
    r"|codes"
    r"|pin))*|(?:recovery|backup|scratch|one-time|emergency|verification)[ -](?:code"
    r"|pin)s?"
    r"|notfallcodes?|einmalcodes?|tan(?=[ :])|codes? de secours|códigos? de respaldo)"
    r"(?![^\W\d_]|[_(\[.=])"
)
SIGNED_IN = lazy_re(
    r"(?i)(?<![^\W\d_])(?:log-?in|user(?:name)?|account|identifiant|utilisateur|compte"
    r"|usuario|cuenta|utente|benutzer(?:name)?|gebruiker|użytkownik|e-?mail|conta"
    r"|credentials?|creds|zugang(?:sdaten)?|anmeldung|логин|användare|bruger|käyttäjä)"
    r"(?![^\W\d_])|用户名|账号|アカウント|ユーザー"
)
SIGNS = ":=：＝→"
COPULAS = frozenset(
    (
        "is", "was", "are", "were", "be", "to", "now", "became", "becomes", "will",
        "as", "reads", "says", "ist", "war", "lautet", "lautete", "heißt", "sind",
        "bleibt", "wird", "auf", "jetzt", "nun", "est", "était", "c'est", "c’est",
        "devient", "à", "es", "era", "está", "son", "será", "cambió", "a", "è",
        "sono", "diventa", "ora", "é", "são", "foi", "agora", "fica", "para", "naar",
        "nu", "geworden", "wordt", "jest", "było", "na", "teraz", "je", "bylo",
        "byla", "teď", "este", "e", "sunt", "az", "most", "lett", "är", "var",
        "heter", "er", "hedder", "ble", "blev", "nå", "on", "oli", "nyt", "olan",
        "oldu", "это", "стал", "теперь", "є", "тепер", "είναι", "ήταν", "type",
        "types", "enter", "typing", "use", "try", "tippe", "gib", "eingeben", "tape",
        "taper", "saisir", "escribe", "inserisci", "digita", "wpisz", "typ", "skriv",
        "введите", "היא", "הוא", "هي", "هو", "है", "là", "คือ", "adalah", "->", "=>",
        "–", "—", "→", "は", "が", "を", "を:", "是", "为", "為", "已改为", "改成",
        "改成了", "改为", "은", "는", "이", "가", "을", "를",
    )
)  # fmt: skip
"""Words between a label and its value: it is what the label says."""
NOT_STATED = frozenset(
    (
        "policy", "policies", "manager", "managers", "hash", "hashes", "hashed",
        "reset", "resets", "length", "field", "fields", "file", "files", "rotation",
        "strength", "generator", "prompt", "hint", "history", "expiry", "expires",
        "vault-id", "encoding", "encoded", "format", "limit", "algorithm", "type",
        "types", "column", "store", "storage", "manager's", "protected", "less",
        "based", "auth", "authentication", "grant", "flow", "check", "input",
        "requirements", "requirement", "validation", "verifier", "stored",
        "safe-keeping", "saved",
    )
)  # fmt: skip
"""Behind a label these say that it speaks of passwords, and states none."""
CHANGED_WORDS = (
    "old", "new", "previous", "current", "before", "after", "alt", "neu", "ancien",
    "nouveau", "nouvelle", "viej", "antigu", "nuev", "actual", "vecchi", "nuov",
    "antig", "nov", "stare", "nowe", "oud", "nieuw", "gammel", "nyt", "gammalt",
    "старый", "новый", "旧", "新",
)  # fmt: skip
CHANGED = lazy_re(
    rf"(?im)^[ \t>*-]{{0,12}}[*_]{{0,2}}(?:the )?(?:{'|'.join(CHANGED_WORDS)})"
    r"(?:es|[aoáét])?[*_]{0,2}[ \t]{0,3}(?:[:=：]|->|→)[ \t*_\"'`]{0,6}"
    r"(?P<value>[^\s\"'`]{6,80})[\"'`*_]{0,3}[ \t\r]*$"
)
"""Lines that say what a password was and is; two follow each other."""

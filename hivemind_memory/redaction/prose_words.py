"""Words of sentences that tell a password or a code, in many languages.

Names and labels before a value are in ``secret_names``. All in lower case.
"""

from __future__ import annotations

PASSWORD_STEMS = (
    "passwort", "passwörter", "kennwort", "kennwörter", "losungswort",
    "wachtwoord", "lösenord", "losenord", "passord", "adgangskode", "kodeord",
    "salasana", "salasõna", "slaptažod", "slaptazod", "lozink", "zapork", "geslo",
    "contraseñ", "contrasen", "senha", "hasł", "heslo", "hesla", "heslem", "jelsz",
    "şifre", "sifre", "парол", "лозинк", "κωδικ", "συνθηματικ", "סיסמ", "पासवर्ड",
    "passwd", "mot de passe", "mots de passe", "phrase secrète",
    "frase secreta", "frase segreta", "palavra-passe", "palavra passe",
    "parola d'ordine", "parola chiave", "parola", "parolă", "kata sandi",
    "mật khẩu", "รหัสผ่าน", "كلمة المرور", "كلمة السر", "كلمة مرور", "باسورد",
    "密码", "密碼", "口令", "パスワード", "パスフレーズ", "暗証番号", "合言葉",
    "비밀번호", "비번", "패스워드", "암호",
    "parool", "lykilorð", "fjalëkalim", "pasahitz", "contrasinal", "cyfrinair",
    "pasfhocal", "wagwoord", "nenosiri", "geheimwoord", "şifrə", "пасворд", "құпиясөз",
    "პაროლ", "գաղտնաբառ", "পাসওয়ার্ড", "கடவுச்சொல்",
)  # fmt: skip
"""Words for a password, which may have any ending and any beginning."""
PASSWORD_PARTS = ("pass", "pw", "mdp", "clave", "hasl", "laps", *PASSWORD_STEMS)
"""One of these is in each text that names a password, in lower case."""
OPENED_PARTS = (
    "encrypted", "locked", "unlock", "opens", "decrypt", "protected", "verschl",
    "gesperrt", "geschützt", "öffnet", "chiffr", "s'ouvre", "se abre", "cifrad",
    "si apre",
    "cifrat", "versleuteld", "geopend", "zaszyfrowan", "otwiera", "зашифрован",
    "открыва",
    "entschl", "entsperr", "security answer", "secret answer", "security question",
    "secret question", "sicherheitsfrage", "réponse secrète", "respuesta secreta",
    "risposta segreta", "first pet",
)  # fmt: skip
"""What is opened with a password, and how that is said."""
CODE_PARTS = (
    "pin", "puk", "code", "kod", "kód", "koodi", "codic", "codigo", "código", "combin",
    "kombin", "geheimzahl", "tunnusluku", "код", "пин", "κωδικ", "קוד", "رمز", "कोड",
    "mã", "รหัส", "暗証番号", "密码", "密碼", "비밀번호",
)  # fmt: skip
"""Words for a code of digits."""
ONE_TIME_PARTS = (
    "2fa", "mfa", "otp", "two-factor", "recovery", "backup code", "scratch", "one-time",
    "notfallcode", "einmal", "tan", "secours", "respaldo", "verification",
)  # fmt: skip
"""Words for a code that is used once."""
SHARED_PARTS = (
    "snmp", "community", "erlang", "wifi", "wi-fi", "wlan", "code", "código", "codigo",
    "codice",
)  # fmt: skip
"""What begins a name for a value that many share to get in."""
NETWORK_PARTS = (
    "wifi", "wi-fi", "wlan", "wpa", "ssid", "вайфай", "вай-фай", "wi‑fi", "无线",
    "無線",
    "와이파이", "hotspot", "fritzbox", "fritz!box", "livebox", "freebox",
    "guest network",
    "guest net", "gast-netz", "gastnetz", "eduroam", "access point",
)  # fmt: skip
"""Words for a wireless network."""
STATED_WORDS = (
    *PASSWORD_PARTS, *OPENED_PARTS, *CODE_PARTS, *ONE_TIME_PARTS, *NETWORK_PARTS,
    *SHARED_PARTS,
)  # fmt: skip
"""What ``statements`` and ``lock_codes`` need to have been looked for."""
WALLET_WORDS = (
    "wallet", "metamask", "ledger", "trezor", "electrum", "exodus", "phantom", "bip39",
    "bip-39", "seed", "mnemonic", "recovery phrase", "recovery words", "bitcoin",
    "ethereum", "crypto", "cold storage", "backup phrase", "secret phrase", "24-word",
    "12-word", "24 words", "12 words", "seedphrase", "coldcard", "sparrow", "monero",
    "slip39", "slip-39", "shamir", "de récupération", "de recuperación", "semilla",
    "wiederherstellung", "24 wörter", "12 wörter", "24 mots", "12 mots", "24 palabras",
    "12 palabras", "24 parole", "12 parole", "24 слов", "12 слов", "multisig",
    "treasury", "mnémonique", "mnemónic", "mnemonica", "助记词", "助記詞",
)  # fmt: skip
"""Words beside which the words that restore a wallet may be."""

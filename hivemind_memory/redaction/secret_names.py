"""Names of passwords and keys in many languages: what stands before a value.

A name that is assigned, the head of a column, the label above a value. What a sentence
says is in ``prose_words``. All in lower case.
"""

from __future__ import annotations

PASSWORD_NAMES = (
    "mdp", "clave", "senha", "parola", "kennwort", "wachtwoord", "haslo", "heslo",
    "sifre", "losenord", "lozinka", "salasana", "adgangskode", "jelszo", "zugangscode",
    "kata sandi", "zaporka", "slaptazodis",
)  # fmt: skip
"""Words for a password in ASCII letters, beside ``pass`` and ``pw``."""
PASSWORDS_ELSEWHERE = (
    "парол", "密码", "密碼", "口令", "パスワード", "暗証番号", "비밀번호",
    "비번", "패스워드",
    "암호",
    "contraseñ", "lösenord", "hasło", "şifre", "jelszó", "पासवर्ड", "كلمة المرور",
    "كلمة السر", "סיסמ", "รหัสผ่าน", "κωδικ", "mật khẩu",
)  # fmt: skip
"""The same in other letters; some without their ending."""
KEY_NAMES = (
    "schluessel", "chiave", "chave", "llave", "sleutel", "nyckel", "klucz", "anahtar",
    "jeton", "segredo", "segreto", "geheimnis",
)  # fmt: skip
"""Words for a key, a token or a secret in ASCII letters, beside the English ones."""
KEYS_ELSEWHERE = (
    "ключ", "токен", "секрет", "schlüssel", "clé", "klíč", "nøgle", "密钥", "密鑰",
    "秘钥", "令牌", "凭证", "凭据", "憑證", "キー", "トークン", "シークレット", "토큰",
    "시크릿", "인증키", "api 키", "مفتاح", "מפתח", "कुंजी", "κλειδί",
)  # fmt: skip
"""The same in other letters."""

"""A password is found in the languages whose word for it is known."""

from __future__ import annotations

import pytest

from hivemind_memory.redaction import scrub

WORDS = (
    *("Passwort", "mot de passe", "contraseña", "clave", "senha", "palavra-passe"),
    *(
        "parola d'ordine",
        "wachtwoord",
        "wagwoord",
        "hasło",
        "heslo",
        "jelszó",
        "parolă",
    ),
    *("парола", "lozinka", "лозинка", "zaporka", "κωδικός", "συνθηματικό", "şifre"),
    *("şifrə", "salasana", "parool", "salasõna", "slaptažodis", "lösenord", "passord"),
    *("adgangskode", "kodeord", "lykilorð", "סיסמה", "كلمة المرور", "كلمة السر"),
    *("पासवर्ड", "পাসওয়ার্ড", "கடவுச்சொல்", "รหัสผ่าน", "mật khẩu", "kata sandi"),
    *(
        "비밀번호",
        "암호",
        "パスワード",
        "合言葉",
        "密码",
        "口令",
        "密碼",
        "пароль",
        "гасло",
    ),
    *("fjalëkalimi", "contrasenya", "pasahitza", "contrasinal", "cyfrinair", "parol"),
    *("pasfhocal", "nenosiri", "პაროლი", "գաղտնաբառ", "құпиясөз", "пасворд"),
)


@pytest.mark.parametrize("word", WORDS)
def test_what_follows_a_word_for_a_password_is_masked(word: str) -> None:
    """With a colon, and with an equals sign."""
    for text in (f"{word}: Qorn7blat", f"Wifi {word} = Qorn7blat"):
        assert "Qorn7blat" not in scrub(text).text

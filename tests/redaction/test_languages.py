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


FRENCH = "bascule copieux dédale épreuve fluide gouffre hublot ivoire lanterne mélange"
SPANISH = (
    "ábaco bisturí corcho dátil ebrio fósil guante hélice imán jarabe lápiz mueble"
)
ENGLISH = "acid bacon cactus damp eager fabric gadget hamster icon jacket kidney lamp"


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ("phrase de récupération du portefeuille :\n", f"{FRENCH} nuage ortie"),
        ("Phrase mnémonique : ", f"{FRENCH} nuage ortie"),
        ("Frase semilla (12 palabras): ", SPANISH),
        ("钱包助记词:", ENGLISH),
    ],
)
def test_the_words_of_a_wallet_are_masked_in_other_languages(
    label: str, words: str
) -> None:
    """Letters with accents ended a word, so that no twelve stood together."""
    assert scrub(f"{label}{words}").text == f"{label}[redacted:seed-phrase]"


@pytest.mark.parametrize(
    "text",
    [
        (
            "La billetera guarda varias cuentas personales, cada cuenta tiene claves"
            " derivadas fuera línea siempre"
        ),
        (
            "La phrase mnémonique protège plusieurs comptes, car chaque adresse a une"
            " clé dérivée hors ligne avec soin"
        ),
    ],
)
def test_a_sentence_about_a_wallet_stays(text: str) -> None:
    """Its words are not twelve that stand alone."""
    assert scrub(text).text == text

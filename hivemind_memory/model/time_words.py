"""The words for times in fourteen languages, without accents and in lower case.

Read by ``time_spans``, which folds a query the same way. A word in ASCII also
belongs into ``_TIME_WORDS`` of ``terms``, which tells whether these are read at all.
"""

from __future__ import annotations

from functools import cache

from hivemind_memory.model.late_typing import NamedTuple

# Names of the months, January first, without accents: English, German, French, Spanish,
# Italian, Portuguese, Dutch, Swedish, Polish, Russian, Turkish, Indonesian. Slavic ones
# in the cases that follow a day or a preposition.
_MONTHS = """
january jan januar jaenner janner janvier enero gennaio janeiro januari stycznia styczniu январь января январе ocak
february feb februar fevrier febrero febbraio fevereiro februari lutego lutym февраль февраля феврале subat
march mar marz maerz mars marzo marco maart marca marcu март марта марте mart maret
april apr avril abril aprile kwietnia kwietniu апрель апреля апреле nisan
may mai mayo maggio maio mei maj maja maju май мая мае mayis
june jun juni juin junio giugno junho czerwca czerwcu июнь июня июне haziran
july jul juli juillet julio luglio julho lipca lipcu июль июля июле temmuz
august aug aout agosto augustus augusti sierpnia sierpniu август августа августе agustos agustus
september sep sept septembre septiembre settembre setembro wrzesnia wrzesniu сентябрь сентября сентябре eylul
october oct oktober octobre octubre ottobre outubro pazdziernika pazdzierniku октябрь октября октябре ekim
november nov novembre noviembre novembro listopada listopadzie ноябрь ноября ноябре kasim
december dec dezember decembre diciembre dicembre dezembro grudnia grudniu декабрь декабря декабре aralik desember
"""  # noqa: E501 - a month a line

_WEEKDAYS = """
monday montag lundi lunes lunedi maandag
tuesday dienstag mardi martes martedi dinsdag
wednesday mittwoch mercredi miercoles mercoledi woensdag
thursday donnerstag jeudi jueves giovedi donderdag
friday freitag vendredi viernes venerdi vrijdag
saturday samstag samedi sabado sabato zaterdag
sunday sonntag dimanche domingo domenica zondag
"""

_UNITS = {
    "day": "day days tag tage tagen jour jours dia dias giorno giorni dag dagen dagar"
    " dzien dni день дня дней gun",
    "week": "week weeks woche wochen semaine semaines semana semanas settimana"
    " settimane weken vecka veckan veckor tydzien tygodnie tygodni tygodniu неделя"
    " недели недель неделе неделю hafta",
    "month": "month months monat monate monaten monats mois mes meses mese mesi maand"
    " maanden manad manaden manader miesiac miesiace miesiecy miesiacu месяц месяца"
    " месяцев месяце ay",
    "year": "year years jahr jahre jahren jahres an ans annee annees ano anos anno"
    " anni jaar jaren ar aret rok roku lata lat год года году лет yil",
}


def _set_of(words: str) -> frozenset[str]:
    """Return the words of a line."""
    return frozenset(words.split())


YEAR_WORDS = _set_of(_UNITS["year"])

_NUMBERS = """
a an one ein eine einem einer un une uno una um uma een en ett jeden один одну bir
two zwei deux dos due dois duas twee tva dwa dwie два две iki
three drei trois tres tre drie trzy три uc
four vier quatre cuatro quattro quatro fyra cztery четыре dort
five funf fuenf cinq cinco cinque vijf fem piec пять bes
six sechs seis sei zes sex szesc шесть alti
seven sieben sept siete sette sete zeven sju siedem семь yedi
eight acht huit ocho otto oito atta osiem восемь sekiz
nine neun neuf nueve nove negen nio dziewiec девять dokuz
ten zehn dix diez dieci dez tien tio dziesiec десять
"""

AGO_BEFORE = _set_of("vor y hace ha")
AGO_BEHIND = _set_of("ago fa atras geleden sedan temu назад once")
"""French says "il y a trois jours"; an "a" alone is too common."""

LAST = _set_of(
    "last past previous letzte letzten letzter letztes vergangene vergangenen"
    " vergangenes vorige vorigen voriges vorig afgelopen dernier derniere derniers"
    " dernieres pasado pasada pasados ultimo ultima ultimos ultimas ultimi ultime"
    " scorso scorsa scorsi scorse passado passada laatste forra senaste zeszly zeszlym"
    " zeszlego ostatni ostatnie ostatnich прошлыи прошлои прошлом прошлую последние"
    " последних gecen son"
)
THIS = _set_of(
    "this current diese diesen dieser diesem dieses ce cette este esta questo questa"
    " deze dit denna detta tym этои этом эту bu"
)
BEFORE_TIME = _set_of(
    "in im en em nel nella w we в во from ab during wahrend durante pendant of de du"
    " des del di do tijdens om"
)
SINCE = _set_of("since seit desde depuis dal dalla od с sinds sedan")
UNSPACED_SINCE = ("以来", "以來", "以降", "から", "부터", "이후", "이래")
"""The same behind a time, in scripts without blanks."""

ARTICLES = _set_of("the dem der den el la le l il lo o a de het")
"""What may be between *since* and a time."""
WITHIN = _set_of("in over within during for")
ORDINAL_ENDINGS = _set_of("st nd rd th er")
BETWEEN = _set_of("of de del di do the den der von van")
VERSION_WORDS = _set_of(
    "version versions versie versione versao wersja версия версии surum versi ver v"
    " build ip"
)
"""Behind these, 10.1.2020 is no date."""

ALONE = {
    "yesterday": -1,
    "today": 0,
    "gestern": -1,
    "vorgestern": -2,
    "heute": 0,
    "ayer": -1,
    "anteayer": -2,
    "hoy": 0,
    "ieri": -1,
    "oggi": 0,
    "ontem": -1,
    "anteontem": -2,
    "hoje": 0,
    "gisteren": -1,
    "eergisteren": -2,
    "vandaag": 0,
    "igar": -1,
    "idag": 0,
    "wczoraj": -1,
    "przedwczoraj": -2,
    "dzisiaj": 0,
    "вчера": -1,
    "позавчера": -2,
    "сегодня": 0,
    "dun": -1,
    "bugun": 0,
}
"""Words that are a day by themselves: days from today."""

# Chinese, Japanese and Korean write no blanks: what is looked for anywhere.
UNSPACED = {
    ("day", -3): "大前天",
    ("week", -2): "上上周 上上週 上上个星期 先々週",
    ("month", -2): "上上个月 上上個月 上上月 先々月",
    ("day", -2): "前天 一昨日 그저께",
    ("day", -1): "昨天 昨日 어제",
    ("day", 0): "今天 今日 오늘",
    ("week", -1): "上周 上週 上星期 上个星期 上個星期 先週 지난주 지난 주",
    ("week", 0): "这周 這週 本周 本週 这个星期 今週 이번주",
    ("month", -1): "上个月 上個月 上月 先月 지난달",
    ("month", 0): "这个月 這個月 本月 今月 이번달",
    ("year", -2): "前年 一昨年 재작년",
    ("year", -1): "去年 昨年 작년",
    ("year", 0): "今年 올해",
}

UNSPACED_UNITS = {
    **dict.fromkeys("天日일", "day"),
    **dict.fromkeys("周間주", "week"),
    **dict.fromkeys("月달", "month"),
    **dict.fromkeys("年년", "year"),
}
"""Last character of a unit -> the unit."""


class Tables(NamedTuple):
    """The tables, by word."""

    months: dict[str, int]
    weekdays: dict[str, int]
    units: dict[str, str]
    numbers: dict[str, int]


@cache
def tables() -> Tables:
    """Return the tables, made once."""
    return Tables(
        _numbered(_MONTHS),
        _numbered(_WEEKDAYS),
        {word: unit for unit, words in _UNITS.items() for word in words.split()},
        _numbered(_NUMBERS),
    )


def _numbered(lines: str) -> dict[str, int]:
    """Return word -> number of its line, from 1."""
    return {
        word: number
        for number, line in enumerate(lines.strip().splitlines(), start=1)
        for word in line.split()
    }

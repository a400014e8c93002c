"""Words of many scripts, for notes and for questions about them."""

from __future__ import annotations

import unicodedata

from hypothesis import strategies as st

SPACED = {
    "latin": "deploy Straße café naïve año garçon łódź İzmir smørrebrød ﬁne Ⅷ",
    "cyrillic": "сервер ёлка объект київ мой Ёж йод",
    "greek": "Αθήνα όδος ΟΔΟΣ λόγος διακομιστής",
    "hebrew": "שָׁלוֹם שרת מפתח דָּבָר",
    "arabic": "مُحَمَّد خادم قاعدة البيانات كِتَاب",
    "persian": "می‌خواهم سرور پایگاه",
    "hindi": "हिन्दी सर्वर डेटाबेस क्षेत्र",
    "bengali": "সার্ভার ডেটাবেস কৃষ্ণ",
    "tamil": "சேவையகம் தரவுத்தளம் க்ஷ",
    "telugu": "సర్వర్ డేటాబేస్",
    "georgian": "სერვერი მონაცემთა ბაზა",
    "armenian": "սերվեր տվյալների բազա",
    "amharic": "ሰርቨር ዳታቤዝ",
    "korean": "서버가 데이터베이스에 배포했다",
    "vietnamese": "máy chủ cơ sở dữ liệu",
    "code": "user_id getHTTPResponse utf8 kebab-case src/main.py foo.bar::baz v1.2.3",
}
UNSPACED = {
    "chinese": "我们在星期二部署服务器到生产环境数据库监听端口",
    "japanese": "サーバーを火曜日にデプロイするデータベースの設定",
    "thai": "เซิร์ฟเวอร์ฐานข้อมูลเราจะปรับใช้ในวันอังคาร",
    "lao": "ເຊີບເວີຖານຂໍ້ມູນ",
    "khmer": "ម៉ាស៊ីនមេមូលដ្ឋានទិន្នន័យ",
    "burmese": "ဆာဗာဒေတာဘေ့စ်",
    "tibetan": "ཞབས་ཞུ་འཕྲུལ་ཆས་",
    "mixed": "在NHK杯上部署HTTPServer到AWS东京region1数据",
}
MARKS = frozenset({"Mn", "Mc"})


def _are_one(left: str, right: str) -> bool:
    """Whether nobody types the one without the other: marks, and words with spaces."""
    return unicodedata.category(right) in MARKS or (left + right).isascii()


@st.composite
def texts_with_words(draw: st.DrawFn) -> tuple[str, str]:
    """Return a text, and some of its words as somebody would ask for them."""
    name = draw(st.sampled_from([*SPACED, *UNSPACED]))
    form = draw(st.sampled_from(["NFC", "NFD"]))
    if name in UNSPACED:
        text = UNSPACED[name]
        start = draw(st.integers(0, len(text) - 2))
        end = draw(st.integers(start + 1, min(len(text), start + 12)))
        while start and _are_one(text[start - 1], text[start]):
            start -= 1
        while end < len(text) and _are_one(text[end - 1], text[end]):
            end += 1
        question = text[start:end]
    else:
        pool = SPACED[name].split()
        words = draw(st.lists(st.sampled_from(pool), min_size=1, max_size=8))
        asked = draw(st.lists(st.sampled_from(words), min_size=1, max_size=4))
        text, question = " ".join(words), " ".join(asked)
    return text, unicodedata.normalize(form, question)

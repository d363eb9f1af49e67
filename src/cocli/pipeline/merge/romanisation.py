"""Words of several alphabets and spellings as one: `Ромашка`, `Romashka` and `Romaschka` give one skeleton.

A skeleton is for comparing only. It drops what spellings differ in, so that words that are unlike may share one;
whoever uses it has other evidence beside it.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_CYRILLIC = dict(zip("абвгґдезиіїйклмнопрстуфъыэё", "abvggdeziiiiklmnoprstufaiee", strict=True)) | {"ь": ""}
_CYRILLIC |= {"є": "ie", "ж": "zh", "х": "kh", "ц": "ts", "ч": "ch", "ш": "sh", "щ": "shch", "ю": "iu", "я": "ia"}
_CYRILLIC |= {"ђ": "d", "ј": "j", "љ": "lj", "њ": "nj", "ћ": "c", "џ": "dz", "ѓ": "g", "ќ": "k", "ў": "u"}
_GREEK = dict(zip("αβγδεζηικλμνξοπρσςτυφω", "avgdeziiklmnxoprsstifo", strict=True)) | {"θ": "th", "χ": "ch", "ψ": "ps"}
_LATIN = {"ø": "o", "æ": "a", "œ": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "t", "ı": "i", "ß": "ss", "ə": "a"}
_ARABIC = {"ة": "ه", "ى": "ي", "ی": "ي", "ک": "ك", "ـ": "", "ٱ": "ا", "ؤ": "و", "ئ": "ي"}
"""One letter that is written in two ways, by country or by haste."""
_HAN = dict(
    zip(
        "陽國東華龍園館麵廳飯藥醫電車門馬鳳銀貿業豐興萬億聯廣義樂書學號樓區縣灣島賓鳥魚鮮雞豬湯鍋燒鐵鋼機械動運輸車輪氣報會務務師傅話網絡設計裝飾傢閣寶愛兒童護齒療養髮藝術畫紅綠藍黃眼鏡開關專賣場連鎖記點龜錢幣財產險證導遊覽",
        "阳国东华龙园馆面厅饭药医电车门马凤银贸业丰兴万亿联广义乐书学号楼区县湾岛宾鸟鱼鲜鸡猪汤锅烧铁钢机械动运输车轮气报会务务师傅话网络设计装饰家阁宝爱儿童护齿疗养发艺术画红绿蓝黄眼镜开关专卖场连锁记点龟钱币财产险证导游览",
        strict=True,
    )
)
"""Characters that are simplified in one country and not in another."""
_LETTERS = str.maketrans({**_CYRILLIC, **_GREEK, **_LATIN, **_ARABIC, **_HAN, "'": ""})

_SPELLINGS = tuple(
    (re.compile(pattern), short)
    for pattern, short in (
        (r"shch|sch|sh", "s"),
        (r"tch|tsch|ch|cz|ts|tz", "c"),
        (r"zh", "z"),
        (r"dj", "d"),
        (r"kh|gh", "h"),
        (r"ph", "f"),
        (r"th", "t"),
        (r"ck|q|c", "k"),
        (r"x", "ks"),
        (r"ou", "u"),
        (r"(?<=[a-z])ae|ae(?=[a-z])", "a"),
        (r"(?<=[a-z])oe|oe(?=[a-z])", "o"),
        (r"ue(?=[a-z])", "u"),
        (r"[yj]", "i"),
        (r"w", "v"),
        (r"dž|dz", "z"),
        (r"(.)\1+", r"\1"),
    )
)
"""What one sound is written as here and there, in the order in which it is looked for."""


def romanised(text: str) -> str:
    """In Latin letters without marks, as far as letters stand for sounds: other scripts stay as they are."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    bare = "".join(letter for letter in plain if not unicodedata.combining(letter))
    return bare.replace("ου", "u").translate(_LETTERS)


@lru_cache(maxsize=100_000)
def skeleton(word: str) -> str:
    """What is left of a word when spellings are made one."""
    text = romanised(word)
    if not text.isascii():
        return text
    for pattern, short in _SPELLINGS:
        text = pattern.sub(short, text)
    return text


def script_of(text: str) -> str:
    """`LATIN` for all that can be romanised, else the script of the first letter: HAN, HEBREW, ARABIC …"""
    letters = [letter for letter in romanised(text) if letter.isalpha()]
    foreign = next((letter for letter in letters if not letter.isascii()), None)
    if not letters or foreign is None:
        return "LATIN"
    name = unicodedata.name(foreign, "UNKNOWN").split()[0]
    # One language writes in all of these.
    return "HAN" if name in ("CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA") else name


def is_alike(word: str, other: str) -> bool:
    """Whether two skeletons are one word: equal, or one slip apart in a word of some length."""
    if word == other:
        return True
    shorter = min(len(word), len(other))
    allowed = 1 if shorter >= _ONE_SLIP else 0
    if shorter >= _TWO_SLIPS:
        allowed = 2
    return bool(allowed) and abs(len(word) - len(other)) <= allowed and _distance(word, other, allowed) <= allowed


_ONE_SLIP, _TWO_SLIPS = 6, 10


def _distance(word: str, other: str, allowed: int) -> int:
    """How many letters have to change. Stops where it is more than allowed."""
    row = list(range(len(other) + 1))
    for place, letter in enumerate(word, 1):
        before, row[0] = row[0], place
        for column, letter_there in enumerate(other, 1):
            before, row[column] = (
                row[column],
                min(before + (letter != letter_there), row[column] + 1, row[column - 1] + 1),
            )
        if min(row) > allowed:
            break
    return row[-1]

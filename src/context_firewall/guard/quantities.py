"""Numbers with their units, in one form: `30s` is `30 seconds` is `thirty seconds`; 1,000 is 1000.

A quantity's key is `dimension:value`, the value in the dimension's smallest unit. A bare number has an empty
dimension. 3.10 stands for itself (it may be a version): a decimal without a unit keeps its digits.
"""

import re
from decimal import Decimal
from typing import NamedTuple

_UNITS_TEXT = """
time 1: ms msec msecs millisecond milliseconds 毫秒 ミリ秒
time 1000: s sec secs second seconds 秒 秒钟 초 sekunde sekunden segundo segundos segundos seconde secondes секунд
секунды секунда
time 60000: min mins minute minutes 分 分钟 分間 분 minuten minuto minutos минут минуты
time 3600000: h hr hrs hour hours 小时 小時 時間 시간 stunde stunden hora horas heure heures час часа часов
time 86400000: day days 天 日 일 tag tage tagen día días dia dias jour jours день дня дней
time 604800000: week weeks 周 星期 週間 주 woche wochen semana semanas semaine semaines неделя недели недель
month 1: month months 个月 月
bytes 1: byte bytes 字节
bytes 1000: kb kilobyte kilobytes
bytes 1000000: mb megabyte megabytes
bytes 1000000000: gb gigabyte gigabytes
bytes 1000000000000: tb terabyte terabytes
bytes 1024: kib
bytes 1048576: mib
bytes 1073741824: gib
part 1: % percent pct 百分 パーセント 퍼센트 prozent процентов
usd 1: $ usd dollar dollars us$ 美元 美金
eur 1: € eur euro euros 欧元
gbp 1: £ gbp pound pounds 英镑
cny 1: ¥ cny rmb yuan 元 块 块钱 人民币
"""
UNITS: dict[str, tuple[str, int]] = {}
for _line in _UNITS_TEXT.strip().splitlines():
    _head, _, _names = _line.partition(":")
    _dimension, _factor = _head.split()
    for _name in _names.split():
        UNITS[_name] = (_dimension, int(_factor))

_ONES = """zero one two three four five six seven eight nine ten eleven twelve
thirteen fourteen fifteen sixteen seventeen eighteen nineteen"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
WORDS = {word: value for value, word in enumerate(_ONES.split())}
WORDS |= {word: 10 * (value + 2) for value, word in enumerate(_TENS.split())}
SCALES = {"hundred": 100, "thousand": 1000, "million": 1_000_000}
_HAN = {"零": 0, "〇": 0, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}
_HAN_SCALES = {"十": 10, "百": 100, "千": 1000, "万": 10_000}

_MANY = 24  # digits of a number that is read as one; a longer one is compared as it is written

_WHOLE = "(?:second|minute|hour|day)"
_HOUR = r"(?:[0-9]{1,2}|十?[一二两三四五六七八九]|十)"

_word = "|".join(sorted([*WORDS, *SCALES], key=len, reverse=True))
_latin_unit = "|".join(
    sorted((name for name in UNITS if name[0].isascii() and name[0].isalpha()), key=len, reverse=True)
)
_other_unit = "|".join(
    re.escape(name)
    for name in sorted((name for name in UNITS if not (name[0].isascii() and name[0].isalpha())), key=len, reverse=True)
)
UNIT = rf"(?:(?:{_latin_unit})(?![a-z0-9])|(?:{_other_unit}))"
NUMBER = r"(?:[0-9]{1,3}(?:,[0-9]{3}){1,8}+(?:\.[0-9]{1,12}+)?+|[0-9]{1,24}+(?:\.[0-9]{1,12}+)?+)"
"""1,000 or 1000 or 1.5."""
PATTERN = (
    r"(?:twice|thrice|(?:a )?dozen)(?![a-z])|(?:a )?quarter of an hour(?![a-z])"
    rf"|(?:one|an?) {_WHOLE} and a half(?![a-z])|one and a half {_WHOLE}s(?![a-z])"
    r"|half an? (?:second|minute|hour|day)(?![a-z])|半个?(?:小时|分钟|秒钟?|天)"
    r"|[0-9]{1,2}(?::[0-9]{2})? ?[ap]\.?m\b\.?|[0-9]{1,2}:[0-9]{2}(?![0-9:])"
    rf"|[上下]午{_HOUR}点半?(?!钟)"
    r"|(?:an?|one) (?:second|minute|hour|day|week|month)(?![a-z])"
    rf"|(?:us\$|[$€£¥])\ ?{NUMBER}[kmb]?+(?![\w])"
    rf"|{NUMBER}[\ -]?{UNIT}"
    rf"|{NUMBER}(?![\w.]|,[0-9])|{NUMBER}(?=\.(?![0-9]))|{NUMBER}(?=[^\x00-\x7f])"
    rf"|(?:{_word})(?![a-z])(?:[\ -](?:{_word})(?![a-z])){{0,8}}+(?:[\ -]{UNIT})?+(?![\w])"
    rf"|[零〇一二两三四五六七八九十百千万]{{1,9}}+(?:{_other_unit})"
    r"|(?!两次之间|一[次个条行遍轮份倍名台项封页句段字张位人件篇章步])[零〇一二两三四五六七八九十百千万]{1,9}+(?=[次个条行遍轮份倍名台项封页句段字张位人件篇章步])"
)
"""A quantity in folded text. What follows the number decides whether it is one."""

_NUMBER = re.compile(NUMBER)


class Quantity(NamedTuple):
    """`dimension` is empty for a bare number; `value` is canonical text."""

    dimension: str
    value: str


def _words_value(text: str) -> int:
    total = current = 0
    for word in re.split(r"[ -]", text):
        if word in SCALES:
            current = max(1, current) * SCALES[word]
            if SCALES[word] >= 1000:
                total, current = total + current, 0
        else:
            current += WORDS[word]
    return total + current


def _han_value(text: str) -> int:
    total = current = 0
    for character in text:
        if character in _HAN_SCALES:
            scale = _HAN_SCALES[character]
            if scale == 10_000:
                total, current = (total + current) * scale, 0
            else:
                total, current = total + max(1, current) * scale, 0
        else:
            current = _HAN[character]
    return total + current


def _plain(value: Decimal) -> str:
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


_PLAIN = {
    "twice": Quantity("", "2"),
    "thrice": Quantity("", "3"),
    "dozen": Quantity("", "12"),
    "quarter of an hour": Quantity("time", "900000"),
}
_CLOCK = re.compile(
    rf"([0-9]{{1,2}})(?::([0-9]{{2}}))? ?([ap])\.?m\.?|([0-9]{{1,2}}):([0-9]{{2}})|([上下])午({_HOUR})点(半?)"
)


def _of_clock(found: re.Match[str]) -> Quantity:
    """A time of day, in minutes: `4 pm`, `16:00`, 下午四点."""
    half, minutes = found[3] or found[6], int(found[2] or found[5] or (30 if found[8] else 0))
    hour = _han_value(found[7]) if found[7] and not found[7].isascii() else int(found[1] or found[4] or found[7])
    if half:
        hour = hour % 12 + (12 if half in ("p", "下") else 0)
    return Quantity("clock", str(60 * hour + minutes))


def quantity(text: str) -> Quantity:
    """Read what `PATTERN` matched."""
    clock = _CLOCK.fullmatch(text)
    if clock is not None:
        return _of_clock(clock)
    plain = _PLAIN.get(text.removeprefix("a "))
    if plain is not None:
        return plain
    longer = re.fullmatch(r"(?:one|an?) (\w+) and a half|one and a half (\w+)", text)
    if longer is not None:
        dimension, factor = UNITS[longer[1] or longer[2]]
        return Quantity(dimension, _plain(Decimal(factor) * 3 / 2))
    halved = re.fullmatch(r"half an? ([a-z]+)|半个?(\w+)", text)
    if halved is not None:
        dimension, factor = UNITS[halved[1] or halved[2]]
        return Quantity(dimension, _plain(Decimal(factor) / 2))
    article = re.fullmatch(r"(?:an?|one)[ -]([a-z]+)", text)
    if article is not None and article[1] in UNITS:
        text = f"1 {article[1]}"
    found = _NUMBER.search(text)
    scale = 1
    if found is not None:
        digits = found[0].replace(",", "")
        before, after = text[: found.start()].strip(), text[found.end() :].strip(" -")
        if after in ("k", "m", "b") and before:
            scale, after = {"k": 1000, "m": 1_000_000, "b": 1_000_000_000}[after], ""
        unit = before or after
        if len(digits) > _MANY or (not unit and "." in digits):
            return Quantity(UNITS[unit][0] if unit else "", digits)
        value = Decimal(digits) * scale
    else:
        words = re.match(
            rf"(?:{_word})(?![a-z])(?:[ -](?:{_word})(?![a-z]))*+|[零〇一二两三四五六七八九十百千万]++", text
        )
        assert words is not None  # noqa: S101  PATTERN has no other alternative
        unit = text[words.end() :].strip(" -")
        if len(words[0]) > 8 * _MANY:
            return Quantity("", words[0])
        value = Decimal(_words_value(words[0]) if words[0].isascii() else _han_value(words[0]))
    if not unit:
        return Quantity("", _plain(value))
    dimension, factor = UNITS[unit]
    return Quantity(dimension, _plain(value * factor))

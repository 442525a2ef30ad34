"""Store statistics as a picture: bytes by day, as one SVG that loads nothing, or as a page with it and the totals.

Each day has one column of what its runs printed, the part of the runs that did not suffice on top in another colour,
and beside it a column of what was shown instead. What did not suffice is not drawn as saved.
"""

from collections.abc import Iterator

from context_firewall.documents.store_statistics import DayTotals, StoreStatistics, share

WIDTH, HEIGHT = 880, 330
_LEFT, _RIGHT, _TOP, _BOTTOM = 76, 16, 66, 40
DAYS_AT_MOST = 60
LINES = 4

RAW, SHOWN, INSUFFICIENT, INK, FAINT = "#a9b4c2", "#2f6f9f", "#d98e04", "#222b36", "#d8dee6"

_UNITS = ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "kB"))


def chart_svg(statistics: StoreStatistics) -> str:
    """The picture, as the text of an SVG file."""
    return "".join(f"{line}\n" for line in _svg(statistics))


def chart_page(statistics: StoreStatistics) -> str:
    """The picture in a page of HTML, with the sentence that it illustrates."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        "<title>context-firewall: bytes by day</title>\n"
        "<style>body{font:16px/1.5 system-ui,sans-serif;max-width:900px;margin:2rem auto;padding:0 1rem;"
        f"color:{INK};background:#fff}}svg{{max-width:100%;height:auto}}</style>\n</head>\n<body>\n"
        f"<h1>Bytes by day</h1>\n<p>{_sentence(statistics)}</p>\n{chart_svg(statistics)}</body>\n</html>\n"
    )


def _sentence(statistics: StoreStatistics) -> str:
    totals = statistics["totals"]
    sufficient, escalated = totals["sufficient"], totals["escalated"]
    words = (
        f"{_runs(totals['runs'])}. Of {_runs(sufficient['runs'])} whose evidence sufficed, "
        f"{sufficient['raw_bytes']:,} B became {sufficient['visible_bytes']:,} B "
        f"({share(totals)} initially avoided)."
    )
    if escalated["runs"]:
        words += (
            f" {_runs(escalated['runs'])} did not suffice: {escalated['raw_bytes']:,} B to fetch, "
            f"{escalated['visible_bytes']:,} B shown, nothing avoided."
        )
    return words


def _runs(count: int) -> str:
    return "1 run" if count == 1 else f"{count:,} runs"


def _svg(statistics: StoreStatistics) -> Iterator[str]:
    days = statistics["days"][-DAYS_AT_MOST:]
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        f'role="img" font-family="system-ui, sans-serif" font-size="12" fill="{INK}">'
    )
    yield f"<title>Bytes printed and shown by day</title><desc>{_sentence(statistics)}</desc>"
    yield f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>'
    yield f'<text x="{_LEFT}" y="22" font-size="15" font-weight="600">Bytes by day</text>'
    yield from _legend()
    top = _ceiling(max((max(_printed(day), _shown(day)) for day in days), default=0))
    for line in range(LINES + 1):
        value = top * line // LINES
        y = _y(value, top)
        yield f'<line x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{y}" y2="{y}" stroke="{FAINT}"/>'
        yield f'<text x="{_LEFT - 8}" y="{y + 4}" text-anchor="end">{_size(value)}</text>'
    if not days:
        yield f'<text x="{(WIDTH + _LEFT) // 2}" y="{HEIGHT // 2}" text-anchor="middle">no runs</text>'
    for at, day in enumerate(days):
        yield from _columns(day, at, len(days), top)
    yield "</svg>"


def _legend() -> Iterator[str]:
    x = _LEFT
    for colour, words in ((RAW, "printed"), (INSUFFICIENT, "printed, evidence not sufficient"), (SHOWN, "shown")):
        yield f'<rect x="{x}" y="36" width="11" height="11" fill="{colour}"/><text x="{x + 16}" y="46">{words}</text>'
        x += 36 + 7 * len(words)


def _columns(day: DayTotals, at: int, days: int, top: int) -> Iterator[str]:
    slot = (WIDTH - _LEFT - _RIGHT) / days
    width = round(min(slot * 0.36, 44), 1)
    left = round(_LEFT + slot * at + slot / 2 - width, 1)
    totals = day["totals"]
    settled = totals["sufficient"]["raw_bytes"]
    label = (
        f"{day['day']}: {_runs(totals['runs'])}, {_printed(day):,} B printed, {_shown(day):,} B shown, "
        f"{totals['escalated']['runs']} not sufficient"
    )
    yield f"<g><title>{label}</title>"
    yield _bar(left, width, 0, settled, top, RAW)
    yield _bar(left, width, settled, _printed(day), top, INSUFFICIENT)
    yield _bar(left + width, width, 0, _shown(day), top, SHOWN)
    yield "</g>"
    every = -(-days // 8)
    if at % every == 0:
        middle = round(left + width, 1)
        yield f'<text x="{middle}" y="{HEIGHT - _BOTTOM + 18}" text-anchor="middle">{day["day"]}</text>'


def _bar(left: float, width: float, low: int, high: int, top: int, colour: str) -> str:
    upper, lower = _y(high, top), _y(low, top)
    return (
        f'<rect x="{round(left, 1)}" y="{upper}" width="{width}" height="{round(lower - upper, 1)}" fill="{colour}"/>'
    )


def _printed(day: DayTotals) -> int:
    return day["totals"]["sufficient"]["raw_bytes"] + day["totals"]["escalated"]["raw_bytes"]


def _shown(day: DayTotals) -> int:
    return day["totals"]["sufficient"]["visible_bytes"] + day["totals"]["escalated"]["visible_bytes"]


def _y(value: int, top: int) -> float:
    return round(HEIGHT - _BOTTOM - (HEIGHT - _TOP - _BOTTOM) * value / top, 1)


def _ceiling(value: int) -> int:
    """The next number that quarters evenly and reads well: 4, 8 or 20 times a power of ten."""
    power = 1
    while True:
        for step in (4, 8, 20):
            if step * power >= value:
                return step * power
        power *= 10


def _size(value: int) -> str:
    for unit, name in _UNITS:
        if value >= unit:
            return f"{value / unit:g} {name}"
    return f"{value} B"

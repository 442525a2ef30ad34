"""How often a judge of survival is wrong, measured on labelled pairs.

python benchmarks/survival.py tests/guard/pairs
python benchmarks/survival.py PATH... --folds 10 --padding SPEC.md --words 3000 --misses

A pair is a JSON object with `directive`, `summary` and `label` (`kept`, `altered` or `lost`); a path is a JSON list of
them, or a folder of such files. Two rates count: *false kept* (a rule that was altered or lost, and was called kept)
and *false alarm* (a kept one that was called altered or lost). `unverifiable` is neither.

With --folds the word lists are cross-validated: for each fold, every entry of a list that pairs of that fold use, and
no other pair does, is taken out before the fold is judged. So each pair is judged by lists that could have been
written without it. That is harder than reality, where a list holds what its language has.

With --padding the first --words words of a text stand before and behind each summary.
"""

import argparse
import importlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from context_firewall.guard import lexicon as lexicons
from context_firewall.guard import sentences, tokens
from context_firewall.guard.folding import fold
from context_firewall.guard.survival import DEFAULT_JUDGE, JUDGES, check_survival

Pair = dict[str, Any]
Entry = tuple[str, str]


def pairs_of(paths: Iterable[Path]) -> list[Pair]:
    """The pairs of all files, in order."""
    files = [file for path in paths for file in (sorted(path.glob("*.json")) if path.is_dir() else [path])]
    return [pair for file in files for pair in json.loads(file.read_text(encoding="utf-8"))]


def verdicts(pairs: Iterable[Pair], judge: str, padding: str = "") -> Iterator[tuple[Pair, str, str]]:
    """Each pair with the judge's verdict and what decided it."""
    for pair in pairs:
        summary = f"{padding}\n\n{pair['summary']}\n\n{padding}" if padding else pair["summary"]
        found = check_survival([pair["directive"]], summary, judge=judge)[0]
        yield pair, found["verdict"], f"{found['rule']}: {found['reason']}"


def is_wrong(pair: Pair, verdict: str) -> bool:
    """Whether a verdict is a false kept or a false alarm."""
    return verdict in ("altered", "lost") if pair["label"] == "kept" else verdict == "kept"


def rates(judged: Iterable[tuple[Pair, str, str]], misses: bool) -> str:
    """Both rates in words."""
    wrong, all_of = {"kept": 0, "other": 0}, {"kept": 0, "other": 0}
    unknown = 0
    for pair, verdict, why in judged:
        side = "kept" if pair["label"] == "kept" else "other"
        all_of[side] += 1
        unknown += verdict == "unverifiable"
        wrong[side] += is_wrong(pair, verdict)
        if misses and is_wrong(pair, verdict):
            print(f"  {pair['label']} called {verdict} ({why}): {pair['directive']!r} in {pair['summary']!r}")
    shares = {side: 100 * wrong[side] / (all_of[side] or 1) for side in wrong}
    return (
        f"false kept {wrong['other']} of {all_of['other']} ({shares['other']:.1f} %), "
        f"false alarm {wrong['kept']} of {all_of['kept']} ({shares['kept']:.1f} %), unverifiable {unknown}"
    )


# -- cross-validated word lists ---------------------------------------------------------------------------------------


def entries_used(pair: Pair) -> set[Entry]:
    """The entries of the languages' lists that a pair's texts use."""
    used: set[Entry] = set()
    for text in (pair["directive"], pair["summary"]):
        folded = fold(text)
        for sentence in sentences.sentences(folded):
            known = lexicons.lexicon(sentence.language)
            stems = tokens._class_of_stem(sentence.language)
            for token in tokens.tokens(folded, sentence.start, sentence.end, sentence.language):
                if (
                    token.text in known.operators
                    or token.text in known.aliases
                    or token.text in known.synonyms
                    or tokens._stem(token.text, known.stemmer) in stems
                ):
                    used.add((sentence.language, token.text))
    return used


def without(entries: set[Entry]) -> dict[str, lexicons.Lexicon]:
    """The lexicons that have entries taken out, as they were before."""
    before: dict[str, lexicons.Lexicon] = {}
    for language in {language for language, _ in entries}:
        module: Any = importlib.import_module(f"context_firewall.guard.lexicon.{language}")
        known = before[language] = module.LEXICON
        gone = {text for owner, text in entries if owner == language}
        stems = {tokens._stem(text, known.stemmer) for text in gone}
        module.LEXICON = known._replace(
            operators={text: op for text, op in known.operators.items() if text not in gone},
            aliases={text: word for text, word in known.aliases.items() if text not in gone},
            synonyms={
                text: first
                for text, first in known.synonyms.items()
                if text not in gone and tokens._stem(text, known.stemmer) not in stems
            },
        )
    _forget()
    return before


def restore(before: dict[str, lexicons.Lexicon]) -> None:
    """Put lexicons back."""
    for language, known in before.items():
        module: Any = importlib.import_module(f"context_firewall.guard.lexicon.{language}")
        module.LEXICON = known
    _forget()


def _forget() -> None:
    for cached in (
        lexicons.lexicon,
        tokens._scanner,
        tokens.word_key,
        tokens._class_of_stem,
        tokens._single_words,
        tokens._shares,
    ):
        cached.cache_clear()


def cross_validated(pairs: list[Pair], judge: str, folds: int) -> Iterator[tuple[Pair, str, str]]:
    """Each pair judged without the entries that only its own fold uses."""
    used = [entries_used(pair) for pair in pairs]
    for fold_number in range(folds):
        own = [pair for place, pair in enumerate(pairs) if place % folds == fold_number]
        of_others = set[Entry]().union(*(one for place, one in enumerate(used) if place % folds != fold_number))
        of_own = set[Entry]().union(*(one for place, one in enumerate(used) if place % folds == fold_number))
        before = without(of_own - of_others)
        try:
            yield from verdicts(own, judge)
        finally:
            restore(before)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--folds", type=int, default=0)
    parser.add_argument("--padding", type=Path)
    parser.add_argument("--words", type=int, default=3000)
    parser.add_argument("--misses", action="store_true", help="print each pair that is judged wrong")
    arguments = parser.parse_args()
    pairs = pairs_of(arguments.paths)
    for judge in JUDGES:
        print(f"{judge}: {rates(verdicts(pairs, judge), arguments.misses and judge == DEFAULT_JUDGE)}")
    if arguments.folds:
        judged = cross_validated(pairs, DEFAULT_JUDGE, arguments.folds)
        print(
            f"{DEFAULT_JUDGE}, word lists cross-validated in {arguments.folds} folds: {rates(judged, arguments.misses)}"
        )
    if arguments.padding:
        text = " ".join(arguments.padding.read_text(encoding="utf-8").split(" ")[: arguments.words])
        for judge in JUDGES:
            judged = verdicts(pairs, judge, text)
            print(
                f"{judge}, {arguments.words} words around: {rates(judged, arguments.misses and judge == DEFAULT_JUDGE)}"
            )


if __name__ == "__main__":
    main()

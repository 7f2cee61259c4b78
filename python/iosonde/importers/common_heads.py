"""Heads that most lines of a text have alike, whatever is in them: comments (``# ``), diffs, provisioners, trackers.

``labels`` knows elements of heads (times, brackets, levels, hosts). A head of anything else is found by comparing the
lines: it is what most of them begin with, where all numbers count as one.
"""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from .labels import UNKNOWN, Label, select_lines

_MIN_SHARE = 0.6  # of the lines
_MAX_CHARACTERS = 160
_MAX_HEADS = 16
# A number (the first one with the blanks that align it), or any character.
_TOKEN = re.compile(r"^ *\d+|\d+|.")
_BLANKS = " \t"
_MARK = re.compile(r"[^\w\s]")  # the words of a single line may be its own
_DOCUMENT = ("{", '"')  # JSON, which is read by itself
_OPENING = "[(<"
_COLUMN_ENDS = ",;"


def find_common_heads(sample: str) -> list[Label]:
    """Return the candidates, the shortest first: each ends with marks or blanks."""
    lines = select_lines(sample)
    tokens, share = _find_common_tokens(lines)
    patterns = [r"\d+" if token == "0" else re.escape(token) for token in tokens]
    aligned = " *" if tokens[:1] == ["0"] else ""
    ends = [end for end in _list_ends(tokens) if len(lines) > 1 or any(map(_MARK.match, tokens[:end]))]
    cores = [aligned + "".join(patterns[:end]) for end in ends]
    return [_build_head(core, lines, share) for core in cores[:_MAX_HEADS]]


def _find_common_tokens(lines: list[str]) -> tuple[list[str], float]:
    """Return the tokens that most lines begin with, numbers as 0, and the share of the lines that have all."""
    cut = [[_generalize(token) for token in _TOKEN.findall(line[:_MAX_CHARACTERS])] for line in lines]
    common, share = list[str](), 1.0
    while cut:
        nexts = Counter(tokens[len(common)] for tokens in cut if len(tokens) > len(common))
        token, count = next(iter(nexts.most_common(1)), ("", 0))
        if count < _MIN_SHARE * len(lines) or token in _DOCUMENT:
            break
        common.append(token)
        share = count / len(lines)
        cut = [tokens for tokens in cut if tokens[len(common) - 1 : len(common)] == [token]]
    return common, share


def _generalize(token: str) -> str:
    return "0" if token[-1].isdigit() else token


def _list_ends(tokens: list[str]) -> Iterator[int]:
    """Yield the places where a label may end: behind each mark, and behind a word before blanks or a bracket."""
    for end, (token, following) in enumerate(pairwise([*tokens, ""]), 1):
        is_end_of_word = following and following in _BLANKS + _OPENING
        if token not in _BLANKS + _COLUMN_ENDS + _OPENING and (is_end_of_word or not _is_word(token)):
            yield end


def _is_word(token: str) -> bool:
    return token.isalnum() or token == "_"


def _build_head(core: str, lines: list[str], share: float) -> Label:
    """Return the label, with the blanks that all lines have behind it; a line without anything else has it, too."""
    rests = [line[match.end() :] for line in lines if (match := re.match(core, line))]
    blanks = min((_count_blanks(rest) for rest in rests if rest.strip()), default=0)
    pattern = re.compile(rf"^{core}(?:[ \t]{{{blanks}}}|[ \t]*$)", re.MULTILINE)
    example = next((match.group() for line in lines if (match := pattern.match(line))), "")
    return Label((UNKNOWN,), example.strip(), pattern, share)


def _count_blanks(text: str) -> int:
    return len(text) - len(text.lstrip(" \t"))

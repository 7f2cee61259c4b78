"""Parts of the path of a file that may tell it apart from others: directories, and words of names.

A part has the name of its place: ``dir0`` is the imported directory, ``dir1`` the first one in it, ``up1`` the one that
contains it, ``name`` the file.
Dates, times and numbers of repetitions (``run3``, ``iter-2``) are no words of a part: what remains names something that
may matter.
"""

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePath

ROOT, ABOVE, NAME = "dir0", "up", "name"
_SUFFIX = re.compile(
    r"\.(?:txt|log|out|output|err|json|csv|tsv|dat|res|xls|xlsx|html|xml|yaml|yml|gz|bz2|xz|zst|tar|tgz|zip)$",
    re.IGNORECASE,
)
# Words that number a repetition whatever their number is.
_REPETITIONS = (
    "run|rep|repeat|repetition|iter|iteration|trial|try|test|round|pass|sample|attempt|jobid|slurm|build|nightly|night|"
    "day|execution|exec|seed|out|output|log|result|results"
)
_DATE = r"(?:19|20)\d\d[-_.]?(?:0[1-9]|1[0-2])[-_.]?(?:0[1-9]|[12]\d|3[01])"
_TIME = r"(?:[01]\d|2[0-3])[-_.:h]?[0-5]\d(?:[-_.:m]?[0-5]\d(?:\.\d+)?)?s?(?:Z|[+-]\d\d:?\d\d)?"
_NO_WORDS = (
    re.compile(rf"(?<!\d){_DATE}(?:[-_.T ]?{_TIME})?(?!\d)"),
    re.compile(rf"(?<![A-Za-z])(?:{_REPETITIONS})[-_.#=]?\d+(?![A-Za-z0-9])", re.IGNORECASE),
    re.compile(r"(?<![A-Za-z\d])(?:first|second|third|fourth|fifth|1st|2nd|3rd|\dth)(?![A-Za-z])", re.IGNORECASE),
)
_IDENTIFIER = re.compile(r"(?=[0-9a-f-]*\d)(?=[0-9a-f-]*[a-f])[0-9a-f]{8,}(?:-[0-9a-f]{4,})*", re.IGNORECASE)
_WORD = re.compile(r"[^-_.,+@ \[\]()]+(?:(?<=\d)\.\d+)?")
_MIN_ID_DIGITS = 5  # shorter numbers may be amounts
# Before numbers in turn these words number repetitions; before others they may be an amount, as jobs and threads.
_STEMS_IN_TURN = ("", "r", "t", "i", "x", "it", "job", "take", "copy", "no", "nr")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def read_parts(file: str, root: str = "") -> dict[str, str]:
    """Return part → its text, for the path of a file below the imported directory ``root`` ('': unknown), which may
    begin with directories that contain it."""
    *directories, name = [text for text in PurePath(file).parts if text not in ("/", "..")] or [""]
    parts = {f"dir{number}": text for number, text in enumerate(directories, 1)}
    above = {ABOVE + str(n) if n else ROOT: text for n, text in enumerate(reversed(PurePath(root).parts))}
    return {**above, **parts, NAME: name}


def split_words(text: str) -> tuple[str, ...]:
    """Return the words of a directory or name, without the endings of data files."""
    text = strip_suffixes(text)
    for pattern in _NO_WORDS:
        text = pattern.sub(" ", text)
    return tuple(word for word in _WORD.findall(text) if not _IDENTIFIER.fullmatch(word))


def strip_suffixes(name: str) -> str:
    """Return a name, or path, without the endings of data files."""
    while match := _SUFFIX.search(name):
        name = name[: match.start()]
    return name


def is_numbering(words: Iterable[str]) -> bool:
    """Return whether these different words only number something: integers in turn from 0 or 1, long numbers as those
    of jobs, or letters in turn."""
    levels = sorted(set(words))
    stems = {word.rstrip("0123456789").lower() for word in levels}
    digits = [word[len(word.rstrip("0123456789")) :] for word in levels]
    if all(digits) and len(stems) == 1:
        (stem,) = stems
        is_long = not stem and all(len(number) >= _MIN_ID_DIGITS for number in digits)
        return is_long or (stem in _STEMS_IN_TURN and _are_in_turn(sorted(map(int, digits))))
    return len(levels) > 1 and "".join(levels).lower() == _LETTERS[: len(levels)]


def _are_in_turn(numbers: Sequence[int]) -> bool:
    return numbers[0] in (0, 1) and numbers == list(range(numbers[0], numbers[0] + len(numbers)))

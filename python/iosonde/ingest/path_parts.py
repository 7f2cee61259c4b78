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
    "day|week|wk|kw|cw|month|execution|exec|seed|out|output|log|result|results"
)
_DATE = r"(?:19|20)\d\d[-_.]?(?:0[1-9]|1[0-2])[-_.]?(?:0[1-9]|[12]\d|3[01])"
_TIME = r"(?:[01]\d|2[0-3])[-_.:h]?[0-5]\d(?:[-_.:m]?[0-5]\d(?:\.\d+)?)?s?(?:Z|[+-]\d\d:?\d\d)?"
_YEAR = r"(?:199\d|200[1-9]|20[1-3]\d)"
_M, _D = r"(?:0[1-9]|1[0-2])", r"(?:0[1-9]|[12]\d|3[01])"
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?)"
)
_WEEKDAY = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?"
_DAY = r"(?:3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?"
_CLOCK = r"(?:[-_.T ]?(?:[01]\d|2[0-3])(?:[:h][0-5]\d(?::[0-5]\d)?|(?P<colon>[-.]?)[0-5]\d(?P=colon)[0-5]\d|[0-5]\d))?"
_WITH_YEAR = rf"(?:[-_., ]*{_YEAR}|(?P=mark)\d\d)?"
_YEAR_LAST = (
    rf"(?<![A-Za-z\d])(?<!\d[-._])(?:{_D}(?P<mark>[-_.]){_M}|{_M}(?P<other>[-_.]){_D})(?:[-_.]{_YEAR}|[-.]\d\d)"
)
# Dates with two digits for the year, or with a month in letters, months, and weeks of a year
_OTHER_DATES = (
    rf"(?<![A-Za-z\d])(?:{_YEAR}[-_. ]?)?{_DAY}(?P<mark>[-_. ]?){_MONTH}{_WITH_YEAR}",
    rf"(?<![A-Za-z\d])(?:{_YEAR}[-_. ]?)?{_MONTH}(?P<mark>[-_. ]?){_DAY}{_WITH_YEAR}",
    rf"(?<![A-Za-z\d])(?:{_MONTH}[-_. ]?{_YEAR}|{_YEAR}[-_. ]?{_MONTH})",
    rf"(?<![A-Za-z\d])(?<!\d[-._])\d\d(?P<mark>[-.]){_M}(?P=mark){_D}",
    rf"(?<!\d){_YEAR}[-_]?W(?:[0-4]\d|5[0-3])(?:[-_]?[1-7])?",
    rf"(?<![A-Za-z\d])(?<!\d[-._])(?:{_YEAR}[-_]{_M}|{_M}-{_YEAR})",
)
# Whole parts that are dates if all levels are: they may be amounts beside others.
_SHORT_DATES = tuple(
    re.compile(pattern, re.IGNORECASE) for pattern in (_YEAR, rf"{_M}[-_.]{_D}", rf"{_D}[-_.]{_M}", _MONTH, _WEEKDAY)
)
_NESTED_DATE = re.compile(rf"{_YEAR}-{_M}(?:-{_D})?")
_NO_WORDS = (
    re.compile(rf"{_YEAR_LAST}{_CLOCK}(?![A-Za-z\d])"),  # before years that a time follows
    re.compile(rf"(?<!\d){_DATE}(?:[-_.T ]?{_TIME})?(?!\d)"),
    *(re.compile(rf"{date}{_CLOCK}(?![A-Za-z\d])", re.IGNORECASE) for date in _OTHER_DATES),
    re.compile(rf"(?<![A-Za-z])(?:{_REPETITIONS})[-_.#=]?\d+(?![A-Za-z0-9])", re.IGNORECASE),
    re.compile(r"(?<![A-Za-z\d])(?:first|second|third|fourth|fifth|1st|2nd|3rd|\dth)(?![A-Za-z])", re.IGNORECASE),
)
# Names of nothing but these words are of files that collect outputs.
_COLLECTIVE = re.compile(
    r"all|bench|benchmark|combined|console|everything|job|jobs|log|merged|out|output|outputs|result|results|"
    r"run|runs|slurm|stdout|summary|test|tests|total",
    re.IGNORECASE,
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
    parts = {f"dir{number}": text for number, text in enumerate(_join_dates(directories), 1)}
    above = {ABOVE + str(n) if n else ROOT: text for n, text in enumerate(reversed(PurePath(root).parts))}
    return {**above, **parts, NAME: name}


def _join_dates(directories: Sequence[str]) -> list[str]:
    """Return the directories; in ``2026/11/25`` the month is ``2026-11``, the day ``2026-11-25``."""
    texts = list(directories)
    for at in range(1, len(texts)):
        joined = f"{texts[at - 1]}-{texts[at]}"
        if _NESTED_DATE.fullmatch(joined):
            texts[at] = joined
    return texts


def split_words(text: str) -> tuple[str, ...]:
    """Return the words of a directory or name, without the endings of data files."""
    text = strip_suffixes(text)
    for pattern in _NO_WORDS:
        text = pattern.sub(" ", text)
    return tuple(word for word in _WORD.findall(text) if not _IDENTIFIER.fullmatch(word))


def is_collective_name(words: Iterable[str], tool: str) -> bool:
    """Return whether the words of a file name tell it apart from no other one (``all_results``, ``ior``)."""
    return all(_COLLECTIVE.fullmatch(word) or word.lower() == tool for word in words)


def strip_suffixes(name: str) -> str:
    """Return a name, or path, without the endings of data files."""
    while match := _SUFFIX.search(name):
        name = name[: match.start()]
    return name


def are_short_dates(texts: Iterable[str]) -> bool:
    """Return whether these different texts are all dates of one spelling without a year (``11-25``, ``Nov``, ``Mon``),
    or years."""
    levels = set(texts)
    return len(levels) > 1 and any(all(pattern.fullmatch(text) for text in levels) for pattern in _SHORT_DATES)


def is_numbering(words: Iterable[str]) -> bool:
    """Return whether these different words only number something: integers in turn from 0 or 1, long numbers as those
    of jobs, letters in turn, or dates."""
    levels = sorted(set(words))
    stems = {word.rstrip("0123456789").lower() for word in levels}
    digits = [word[len(word.rstrip("0123456789")) :] for word in levels]
    if all(digits) and len(stems) == 1 and not are_short_dates(levels):
        (stem,) = stems
        is_long = not stem and all(len(number) >= _MIN_ID_DIGITS for number in digits)
        return is_long or (stem in _STEMS_IN_TURN and _are_in_turn(sorted(map(int, digits))))
    if are_short_dates(levels):
        return True
    return len(levels) > 1 and "".join(levels).lower() == _LETTERS[: len(levels)]


def _are_in_turn(numbers: Sequence[int]) -> bool:
    return numbers[0] in (0, 1) and numbers == list(range(numbers[0], numbers[0] + len(numbers)))

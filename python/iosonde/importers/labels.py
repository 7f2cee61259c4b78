"""Labels before the lines of a tool's output: ranks, hosts, times, log levels, quotes, as launchers and collectors of
logs put them there.

No launcher is known by name. A line's head is cut into elements (a time, a bracket, ``word:``, a level …); a head that
many lines have alike, whatever its digits, is a candidate. ``bare_text`` decides by what importers read behind it.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

# Lines that are cut into elements, from the begin and the end of a sample.
_LINES_EXAMINED = 400
_MAX_ELEMENTS = 10
_MAX_NAMES = 3  # a host, a pod, a container
_MAX_SPELLINGS = 64  # hosts of one label
_MIN_SHARE = 0.3  # of the lines, for a label
_MIN_SHARE_OF_PARENT = 0.6  # of the lines with its other elements
_MIN_SHARE_OF_WORD = 0.9  # the same, for a word without any mark: a pod, a container
_MIN_SHARE_OF_SPELLING = 0.01
_MAX_SPLIT = 512
UNKNOWN = "unknown"  # kind of a head without known elements
_LEAST_LINES = 3  # of each node, on average

_MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_CLOCK = r"\d{1,2}:\d\d:\d\d(?:[.,]\d{1,9})?"
_STAMP = (
    rf"(?:\d{{4}}[-/]\d\d[-/]\d\d[T ]{_CLOCK}(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?"
    rf"|(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? )?{_MONTH} [ \d]\d (?:\d{{4}} )?{_CLOCK}(?: \d{{4}})?"
    rf"|{_CLOCK}|\d{{10}}\.\d{{3,9}})"
)
_LEVEL = r"(?:TRACE|DEBUG|INFO|NOTICE|WARNING|WARN|ERROR|CRITICAL|FATAL|LOG|[Dd]ebug|[Ii]nfo|[Ww]arning|[Ee]rror)"
# At the begin of a line only: docker compose's service, GitHub's job and step.
_FIRST_ELEMENTS = (
    ("pipe", r"[A-Za-z_][\w./-]* *\|(?= |$)"),
    ("job", r"[^\t\n:\"{]{1,60}\t[^\t\n]{1,60}\t(?=\d{4}-\d\d-\d\dT)"),
)
# Each kind of element and how its spellings are generalised; the first that fits is taken.
_ELEMENTS = (
    ("quote", r"(?:> ?)+"),
    ("stamp", rf"\[ ?{_STAMP} ?\]:?|{_STAMP}(?=[ \t|:\]])(?:[:|](?=[ \t]))?"),
    ("level", rf"(?:\[ *{_LEVEL} *\]|{_LEVEL})(?:[:|,](?!\d))?(?=[ \t:]|$)"),
    ("stream", r"<std(?:out|err|diag)>:?|\d\d[OE][+ ]?(?=.)|\[?(?:stdout|stderr)\]?[:|]?(?= )"),
    ("count", r" *\d+\t"),
    # Not md-workbench's --process-reports.
    ("rank", r" *\d+:(?! ?(?:precreate|benchmark|cleanup) (?:process max:|\d))"),
    ("bracket", r"\[(?!pid )[^\[\]\n]{1,100}\]:?"),
    ("word", r"[A-Za-z_][^\s:\[\]\"{}<>=,;|]{0,100}(?:\[\d+\])?:|[\w./-]+/[\w./-]+:"),
    ("mark", r"::|--?(?= )|\|(?= )"),
    ("name", r"[A-Za-z_][\w./@-]*(?:\[\d+\])?:?(?=[ \t]|$)"),
)
_KINDS = [kind for kind, _ in (*_FIRST_ELEMENTS, *_ELEMENTS)]
_PATTERNS = [f"(?P<k{at}>{pattern})" for at, (_, pattern) in enumerate((*_FIRST_ELEMENTS, *_ELEMENTS))]
_FIRST_ELEMENT = re.compile("|".join(_PATTERNS))
_ELEMENT = re.compile("|".join(_PATTERNS[len(_FIRST_ELEMENTS) :]))
_POD = re.compile(r"[-\d]")
_MARKS = " \t:|[]"
_NUMBER = re.compile(r"[\d:]+")
_DIGITS_OR_BLANKS = re.compile(r"\d+| +")
# Elements that tell when or how a line was printed, and not by whom.
_NOT_AN_IDENTITY = ("stamp", "level", "stream", "count", "quote", "mark", UNKNOWN)


@dataclass(frozen=True)
class Label:
    """A head of lines: its kinds of elements, an example, and what matches it, with a group for each identity."""

    kinds: tuple[str, ...]
    example: str
    pattern: re.Pattern[str]
    share: float = 1.0  # of the lines

    @property
    def is_unknown(self) -> bool:
        """Return whether it is only a head that the lines have alike, of no known element."""
        return self.kinds == (UNKNOWN,)

    @property
    def has_words(self) -> bool:
        """Return whether it has letters or numbers, which may be the tool's own."""
        return re.search(r"\w", self.example) is not None

    def strip(self, text: str) -> str:
        """Return the text without this label."""
        return self.pattern.sub("", text)

    def split(self, text: str) -> dict[str, str]:
        """Return the text of each identity (node, rank, pod), the lines of others empty; none if there are too many.

        Lines without a label belong to all.
        """
        if not any(kind not in _NOT_AN_IDENTITY for kind in self.kinds):
            return {}
        lines, owners, match = text.split("\n"), list[tuple[str, ...]](), self.pattern.match
        for at, line in enumerate(lines):
            if head := match(line):
                lines[at] = line[head.end() :]
                owners.append(tuple(group.strip(_MARKS) for group in head.groups() if group))
            else:
                owners.append(())
        # Numbers may be those of ranks, or of lines.
        unnumbered = [tuple(word for word in owner if not _NUMBER.fullmatch(word)) for owner in owners]
        owners = next((some for some in (owners, unnumbered) if _can_be_identities(some)), [])
        return _separate(lines, [" ".join(owner) for owner in owners]) if owners else {}


def _can_be_identities(owners: Sequence[tuple[str, ...]]) -> bool:
    having = Counter(owner for owner in owners if owner)
    return 2 <= len(having) <= _MAX_SPLIT and _LEAST_LINES * len(having) <= having.total()


def _separate(lines: Sequence[str], owners: Sequence[str]) -> dict[str, str]:
    parts = {owner: [""] * len(lines) for owner in dict.fromkeys(owners) if owner}
    for at, (line, owner) in enumerate(zip(lines, owners, strict=True)):
        for part in [parts[owner]] if owner else parts.values():
            part[at] = line
    return {owner: "\n".join(part) for owner, part in parts.items()}


def find_labels(sample: str) -> list[Label]:
    """Return the candidates, the shortest first."""
    lines = select_lines(sample)
    heads = Counter[tuple[str, ...]]()
    spellings: dict[tuple[str, ...], Counter[tuple[str, ...]]] = {}
    examples: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for line in lines:
        kinds, sources = tuple[str, ...](), tuple[str, ...]()
        for kind, source, end in _cut_into_elements(line):
            kinds, sources = (*kinds, kind), (*sources, source)
            heads[kinds] += 1
            spellings.setdefault(kinds, Counter())[sources] += 1
            examples.setdefault(kinds, []).append((line[:end], line[end:]))
    labels = []
    for kinds, count in heads.items():
        parent = heads[kinds[:-1]] if len(kinds) > 1 else len(lines)
        common = _select_spellings(spellings[kinds], len(lines))
        share = sum(spellings[kinds][sources] for sources in common) / max(parent, 1)
        least = _MIN_SHARE_OF_WORD if kinds[-1] == "name" else _MIN_SHARE_OF_PARENT if len(kinds) > 1 else _MIN_SHARE
        if common and share >= least and count >= _MIN_SHARE * len(lines):
            labels.append(_build_label(kinds, common, examples[kinds], count / len(lines)))
    return sorted(labels, key=lambda label: len(label.kinds))


def select_lines(sample: str) -> list[str]:
    """Return the begins of the lines that are not blank, of a long text those at its begin and its end."""
    lines = [line for line in sample.split("\n") if line.strip()]
    if len(lines) > _LINES_EXAMINED:
        lines = lines[: _LINES_EXAMINED // 2] + lines[-_LINES_EXAMINED // 2 :]
    return [line[:400] for line in lines]


def _select_spellings(spellings: Counter[tuple[str, ...]], n_lines: int) -> list[tuple[str, ...]]:
    """Return the frequent spellings of an element; what is in one line only is a word of the tool."""
    least = max(2 if n_lines > 3 else 1, _MIN_SHARE_OF_SPELLING * n_lines)
    return [sources for sources, count in islice(spellings.most_common(), _MAX_SPELLINGS) if count >= least]


def _cut_into_elements(line: str) -> Iterator[tuple[str, str, int]]:
    """Yield kind, pattern of the spelling and end of each element of a line's head."""
    at, names = 0, 0
    for _ in range(_MAX_ELEMENTS):
        # Indentation is the tool's; right-aligned numbers have theirs in them.
        match = _ELEMENT.match(line, at) or _ELEMENT.match(line, _skip_blanks(line, at)) if at else None
        match = match if at else _FIRST_ELEMENT.match(line)
        if not match or not match.group():
            return
        kind = _KINDS[int(str(match.lastgroup)[1:])]
        names += kind == "name"
        # A pod and its container; a first word without a mark is a pod if it has a number or a hyphen.
        if names > _MAX_NAMES or (kind == "name" and not at and not _POD.search(match.group())):
            return
        yield kind, _generalize(kind, " " * (match.start() - at), match.group()), match.end()
        at = match.end()


def _skip_blanks(line: str, at: int) -> int:
    return len(line) - len(line[at:].lstrip(" "))


@lru_cache(1 << 12)
def _generalize(kind: str, blanks: str, spelling: str) -> str:
    gap = " +" if blanks else ""
    if kind == "stamp":
        return gap + (r"\[ ?" + _STAMP + r" ?\]:?" if spelling[0] == "[" else _STAMP + "[:|]?")
    if kind == "level":
        return gap + (rf"\[ *{_LEVEL} *\]" if spelling[0] == "[" else _LEVEL) + "[:|,]?"
    if kind == "quote":
        return gap + r"(?:> ?){" + str(spelling.count(">")) + "}"
    if kind == "stream":
        return gap + (r"\d\d[OE][+ ]" if spelling[0].isdigit() else r"[<\[]?std(?:out|err|diag)[>\]]?[:|]?")
    body = _DIGITS_OR_BLANKS.sub(lambda part: r"\d+" if part.group().isdigit() else " +", _escape(spelling))
    if kind in ("count", "rank"):
        body = " *" + body.removeprefix(" +")
    return gap + (body if kind in _NOT_AN_IDENTITY else f"({body})")


def _escape(spelling: str) -> str:
    return re.escape(spelling).replace(r"\ ", " ")


def _build_label(
    kinds: tuple[str, ...], spellings: Sequence[tuple[str, ...]], examples: Sequence[tuple[str, str]], share: float
) -> Label:
    rests = [rest for _, rest in examples if rest.strip()]
    blanks = min((len(rest) - len(rest.lstrip(" ")) for rest in rests), default=0)
    most = 2 if kinds[-1] == "stamp" else 0 if kinds[-1] in ("quote", "count", "job") else 1
    blanks = min(blanks, most)
    core = "|".join("".join(sources) for sources in spellings)
    end = rf"(?: {{{blanks}}}|[ \t]*$)" if blanks else ""
    return Label(kinds, examples[0][0].strip(), re.compile(f"^(?:{core}){end}", re.MULTILINE), share)

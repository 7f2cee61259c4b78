"""The questions of an experiment, in order: the section ``questions`` of its file.

Each names one analysis and its options. They change no measurement: the same experiment with other questions is the
same experiment.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

KEY = "questions"  # of an experiment file, and in Experiment.settings
SUMMARY, COMPARE, REGRESS, ANOVA, RANK = "summary", "compare", "regress", "anova", "rank"
ADVISE, VALIDATE, PLOT, DIAGNOSE, TIME_MODEL = "advise", "validate", "plot", "diagnose", "time_model"
BOUND = "bound"
# Options of questions that name factors; those of ``on`` may also be expressions, which are ignored.
FACTOR_WORDS = ("x", "color", "panel", "by", "columns", "group", "pair", "adjust", "choose", "given", "on")
KINDS = (SUMMARY, COMPARE, REGRESS, ANOVA, RANK, ADVISE, VALIDATE, PLOT, DIAGNOSE, TIME_MODEL, BOUND)


@dataclass(frozen=True)
class DeclaredQuestion:
    """A question. ``text`` is for people, ``kind`` is the analysis and ``words`` its options. ``metric`` restricts the
    metrics, ``where`` the trials; ``published`` cites earlier results, ``claims`` are their numbers (``agreement``).
    ``declared`` are the known factors, measured or not. ``level`` is that of intervals, None for the usual one."""

    text: str
    kind: str
    words: Mapping[str, Any]
    metric: tuple[str, ...] = ()
    where: tuple[str, ...] = ()
    published: str = ""
    declared: frozenset[str] = frozenset()
    claims: tuple[Mapping[str, Any], ...] = ()
    level: float | None = None

    def names(self, word: str) -> tuple[str, ...]:
        """Return the names in an option: a list, or names separated by commas."""
        return split_listed_names(self.words.get(word))

    def command(self, data: str, experiment: str | None = None) -> list[str]:
        """Return the command line that answers the same question."""
        words = list(self.names("levels"))
        options = {name: value for name, value in self.words.items() if name not in ("levels", "at", "sums")}
        arguments = [
            argument
            for name, value in options.items()
            if value is not False
            for argument in (
                f"--{name.replace('_', '-')}",
                *(() if value is True else (",".join(split_listed_names(value)),)),
            )
        ]
        arguments += [argument for point in self.words.get("at", ()) for argument in ("--at", str(point))]
        arguments += (
            ["--metric" if self.kind == DIAGNOSE else "--response", ",".join(self.metric)] if self.metric else []
        )
        arguments += [] if self.level is None else ["--level", f"{self.level:g}"]
        arguments += ["--experiment", experiment] if experiment else []
        arguments += [argument for condition in self.where for argument in ("--where", condition)]
        return ["iosonde", self.kind.replace("_", "-"), data, *words, *arguments]


def read(entries: Iterable[Mapping[str, Any]], declared: frozenset[str] = frozenset()) -> list[DeclaredQuestion]:
    """Read the checked questions of a file or a store; questions of an unknown kind are left out."""
    return [
        DeclaredQuestion(
            str(entry["question"]),
            kind,
            dict(entry[kind]),
            split_listed_names(entry.get("metric")),
            tuple([entry["where"]] if isinstance(entry.get("where"), str) else entry.get("where", ())),
            str(entry.get("published", "")),
            declared,
            tuple(entry.get("claims", ())),
            entry.get("level"),
        )
        for entry in entries
        for kind in KINDS
        if kind in entry
    ]


def split_listed_names(value: Any) -> tuple[str, ...]:
    """Split ``[a, b]``, ``a, b`` or 5 into names."""
    if value is None:
        return ()
    words = value if isinstance(value, (list, tuple)) else str(value).split(",")
    return tuple(text for word in words if (text := str(word).strip()))

"""Rows that a column marks as no trials: warm-ups (``warmup`` yes, ``phase`` warm-up), and what somebody excluded
(``exclude`` x, ``use`` no, ``comment`` ignore)."""

import re

import numpy as np
import numpy.typing as npt

from iosonde.core.column_roles import REMARK_NAMES
from iosonde.core.column_units import split_column_name
from iosonde.core.table import Column, Table

from .failed_rows import drop_rows, is_failure
from .summary_rows import WARM_UPS

# All words of a name, written as one; its cells are marks.
_WARM_UP_NAMES = frozenset(("warmup", "preheat", "rampup", "aufwärmen", "vorlauf", "aufwärmlauf", "échauffement"))
_EXCLUSION_NAMES = frozenset(
    ("exclude", "excluded", "skip", "skipped", "ignore", "ignored", "bad", "invalid", "outlier", "discard", "discarded")
    + ("drop", "omit", "omitted", "reject", "rejected", "ausgeschlossen", "ausschluss", "ausreißer", "ausreisser")
    + ("ungültig", "verwerfen", "verworfen", "exclu", "exclure", "excluir", "excluido", "aberrant")
)
_INCLUSION_NAMES = frozenset(("include", "included", "use", "usable", "keep", "good", "verwenden", "inclus", "incluir"))
# Names of columns one level of which may be a warm-up; and levels of its others.
_PHASE_NAMES = frozenset(("phase", "stage", "kind", "type", "section", "period", "state", "status", "label", "art"))
_TRIAL_LEVELS = frozenset(
    ("measure", "measured", "measurement", "measuring", "main", "test", "run", "real", "steady", "messung", "mesure")
)
_MARKS = frozenset(("x", "xx", "yes", "y", "true", "t", "1", "ja", "j", "oui", "sí", "si", "*", "✓", "✔", "✗", "✘"))
_NO_MARKS = frozenset(("no", "n", "false", "f", "0", "nein", "non", "ok", "good", ""))
_IGNORED = re.compile(
    r"(?:please |bitte )?(?:ignored?|skip(?:ped)?|exclude[d]?|discard(?:ed)?|dropped|omit(?:ted)?|rejected|unusable|"
    r"do(?: not|n't) use|not used|bad(?: run| value)?|outlier|invalid|ungültig|verwerfen|verworfen|ignorieren|"
    r"nicht verwenden|ausreißer|ausreisser|à ignorer|ignorar)(?: this)?(?: run| one| value)?",
    re.IGNORECASE,
)
Mask = npt.NDArray[np.bool_]


def drop_marked_rows(table: Table) -> Table:
    """Return the table without the rows that columns mark as warm-ups or as excluded, if those are fewer than half,
    with a warning for each such column, which is no factor."""
    for name in table.names:
        column = table.columns[name]
        if column.unit or column.role or column.missing.all():
            continue
        for code, what, mask in (
            ("warm-up-rows", "rows are warm-ups", _find_warm_ups(column)),
            ("excluded-rows", "rows are excluded", _find_exclusions(column)),
        ):
            if mask is not None and 0 < 2 * mask.sum() < len(mask):
                table = drop_rows(table, column, mask, code, what)
                break
    return table


def _find_warm_ups(column: Column) -> Mask | None:
    words = split_column_name(column.label or column.name)
    if "".join(words).removeprefix("is") in _WARM_UP_NAMES:
        return _find_marks(column)
    warm_ups = set() if column.numeric else {text for text in column.counts if text.lower() in WARM_UPS}
    if not warm_ups:
        return None
    others = {text.lower() for text in column.counts} - WARM_UPS
    is_phase = not _PHASE_NAMES.isdisjoint(words) or not REMARK_NAMES.isdisjoint(words) or others <= _TRIAL_LEVELS
    return np.array([value in warm_ups for value in column.values]) if is_phase else None


def _find_exclusions(column: Column) -> Mask | None:
    words = split_column_name(column.label or column.name)
    name = "".join(words).removeprefix("is")
    if name in _EXCLUSION_NAMES:
        return _find_marks(column)
    if name in _INCLUSION_NAMES:
        marks = _find_marks(column)
        return None if marks is None else ~marks & ~column.missing
    if column.numeric or REMARK_NAMES.isdisjoint(words):
        return None
    ignored = {text for text in column.counts if _IGNORED.fullmatch(text.strip(" !.")) or is_failure(text)}
    return np.array([value in ignored for value in column.values]) if ignored else None


def _find_marks(column: Column) -> Mask | None:
    """Return which cells are marked; None if the column holds other texts or numbers. In a column that is blank in most
    rows, a text is the reason of a mark."""
    if column.numeric:
        values: npt.NDArray[np.float64] = column.values.astype(float)
        return np.asarray(values == 1) if set(values[~column.missing]) <= {0.0, 1.0} else None
    texts = ["" if value is None else str(value).lower() for value in column.values]
    is_mostly_blank = 2 * texts.count("") > len(texts)
    if not is_mostly_blank and not set(texts) <= _MARKS | _NO_MARKS | WARM_UPS:
        return None
    return np.array([text not in _NO_MARKS for text in texts])

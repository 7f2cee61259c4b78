"""The assumptions that must be checked before a verdict on each question."""

_TRIALS = {"subsamples", "missing-values", "coarse-clock", "dependent", "impossible"}
_COLUMNS = {"varies-besides", "goes-together"}
_TIME = {"order", "drift"}
_ERROR = {"few-trials", "bring-ups"}

REQUIRED: dict[str, frozenset[str]] = {
    "difference": frozenset(_TRIALS | _COLUMNS | _TIME | _ERROR),
    "effect": frozenset(_TRIALS | _COLUMNS | _TIME | _ERROR),
    "slope": frozenset(_TRIALS | _COLUMNS | _TIME | {"lack-of-fit", "leverage", "bring-ups"}),
    "limit": frozenset(_COLUMNS | {"few-trials", "lack-of-fit", "bring-ups", "within-run"}),
    "best": frozenset(_TRIALS | _COLUMNS | _TIME),
    "model": frozenset(_TRIALS | _COLUMNS | _TIME),
    "change": frozenset({"dependent", "few-trials"}),
    "cause": frozenset({"goes-together"}),
    "dependence": frozenset({"subsamples", "few-trials", "missing-values", "leverage", "varies-besides"}),
    "gate": frozenset(_TRIALS | _COLUMNS | _TIME | _ERROR),
}

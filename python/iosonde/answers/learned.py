"""From DATA to training data of a model (one response, its factors, rows as examples), and the models to try."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from iosonde.core.errors import DataError, InputError
from iosonde.core.transforms import TRANSFORMS
from iosonde.core.types import Role
from iosonde.data.query import ResponseQuery
from iosonde.data.responses import Response, choose_response
from iosonde.data.source import Source
from iosonde.model.families import NAMES, complete_options
from iosonde.model.families.linear import build_design_columns
from iosonde.model.fit.choose import Choice, can_be_power_law, choose_model, list_auto_candidates
from iosonde.model.fit.features import Examples, build_examples
from iosonde.model.fit.folds import Groups
from iosonde.model.fit.following import drop_following_factors
from iosonde.model.fit.validate import Candidate
from iosonde.model.fit.work import Tell

from .caveats import list_caveats, warn_single_trials


@dataclass(frozen=True)
class Learned:
    """``examples`` of one ``response``, on the named factors, or on a store's set factors."""

    response: Response
    examples: Examples

    def add_single_trial_warning(self, groups: Groups) -> Examples:
        """Return the examples, with a warning if trials of one bring-up count individually in their folds."""
        if groups.n_bring_ups:
            return self.examples
        notes = warn_single_trials(self.response, [feature.name for feature in self.examples.features])
        return replace(self.examples, warnings=(*self.examples.warnings, *notes))


def select_examples(source: Source, query: ResponseQuery) -> Learned:
    """Return the rows to learn from. ``query.on`` may hold terms of ``regress``, such as ``log(nodes)``.

    Raises InputError, DataError."""
    terms = ", ".join(query.on) if any(map(_is_term, query.on)) else ""
    query = replace(query, on=tuple(_list_columns(query.on))) if terms else query
    response = choose_response(source, query).with_scattered()
    names = list(source.apart(query.on)) or [
        name for name in list_set_factors(response) if len(response.rows.column(name).codes()[1]) > 1
    ]
    if not names:
        raise DataError(
            "nothing-varies",
            "{title}: no factor has two levels",
            "what never varies explains nothing",
            title=response.title,
        )
    training_examples = build_examples(response.rows, response.title, names)
    units = source.units() if source.knows_factors else {}
    features = tuple(
        replace(feature, unit=feature.unit or units.get(feature.name, "")) for feature in training_examples.features
    )
    warnings = (*list_caveats(response), *training_examples.warnings)
    every = replace(training_examples, features=features, unit=response.unit, warnings=warnings, terms=terms)
    return Learned(response, drop_following_factors(every))


_TRANSFORM = re.compile(rf"(?:C|{'|'.join(TRANSFORMS)})\((.+)\)")


def _list_columns(on: Sequence[str]) -> list[str]:
    """Return the columns in terms, each once."""
    parts = [part.strip() for text in on for part in (re.split("[:*]", text) if _is_term(text) else [text])]
    matches = [(part, _TRANSFORM.fullmatch(part)) for part in parts]
    return list(dict.fromkeys(match[1].strip() if match else part for part, match in matches))


def _is_term(text: str) -> bool:
    """Return whether a text has a transform of a column, or is a product of such."""
    return any(_TRANSFORM.fullmatch(part.strip()) for part in re.split("[:*]", text))


def list_set_factors(response: Response) -> list[str]:
    """Return the set factors, as the experiments declare; observed ones cannot be chosen."""
    return [factor.name for factor in response.factors if factor.role is Role.SET]


@dataclass(frozen=True)
class Learning:
    """``families`` as people write them: ``auto``, ``linear,tree``, ``tree depth=4 min_leaf=5``; none: auto.

    ``terms`` are those of linear models, None: the factors. ``n_folds``: 10 where None. ``together`` is what is kept
    in one fold: ``twins`` (repeats of a setting and copies), ``cells`` (only repeats), or ``rows`` (nothing). Folds
    and forests are drawn from ``seed``.
    """

    families: tuple[str, ...] = ()
    terms: str | None = None
    n_folds: int | None = None
    together: str = "twins"
    seed: int = 0

    def candidates(self, examples: Examples) -> list[Candidate]:
        """Return the models to try, simplest first. Raises InputError, or DataError for terms that do not exist."""
        models = build_candidates(self.families, int(examples.cells.max()) + 1, self.terms or examples.terms or None)
        if not any("loglog" in family for family in self.families) and not can_be_power_law(examples):
            models = [model for model in models if model.family != "loglog"]
        for terms in dict.fromkeys(str(model.options["terms"]) for model in models if "terms" in model.options):
            build_design_columns(examples, terms)
        return models


def choose_best_model(
    examples: Examples, together: Groups, how: Learning, level: float, progress: Tell | None = None
) -> Choice:
    """Choose a model for ``fit`` and for a page: the same candidates, folds and error. Raises InputError, DataError."""
    return choose_model(examples, how.candidates(examples), together, how.n_folds, level, how.seed, progress)


def build_candidates(texts: Sequence[str], n_settings: int, terms: str | None = None) -> list[Candidate]:
    """Return the models of these texts, simplest first. Raises InputError."""
    models: list[Candidate] = []
    for text in texts or ("auto",):
        for part in [text] if "=" in text else [name.strip() for name in text.split(",") if name.strip()]:
            name, *options = part.split()
            if name == "auto":
                models += list_auto_candidates(n_settings, terms or "")
                continue
            settings = dict(_parse_option(name, option) for option in options)
            if terms and "terms" in complete_options(name, {}):
                settings = {"terms": terms, **settings}
            complete_options(name, settings)
            models.append(Candidate(name, settings))
    if not models:
        raise InputError("empty-option-value", "no family is named", "families: auto, {names}", names=", ".join(NAMES))
    by_name = {candidate.name: candidate for candidate in models}
    order = list(by_name)
    return sorted(by_name.values(), key=lambda c: (NAMES.index(c.family), order.index(c.name)))


def _parse_option(family: str, text: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not equals:
        raise InputError(
            "invalid-option-value",
            "'{option}' is not an option of a family",
            "write {spell.family:'tree depth=4'}",
            option=text,
        )
    default = complete_options(family, {}).get(key, "")
    if isinstance(default, str):
        return key, value
    try:
        number = type(default)(value)
    except ValueError:
        raise InputError(
            "not-a-number",
            "{family} {key}={number} is not a number",
            "write it like {key}={default_number}",
            family=family,
            key=key,
            number=value,
            default_number=default or 4,
        ) from None
    if not 0 <= number < 1e9:
        raise InputError(
            "out-of-range",
            "{family} {key}={number} is out of range",
            "use a number of 0 or more",
            family=family,
            key=key,
            number=value,
        )
    return key, number

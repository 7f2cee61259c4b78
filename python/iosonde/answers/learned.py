"""From DATA to training data of a model: one response, its factors, and the rows as examples."""

from __future__ import annotations

from dataclasses import dataclass, replace

from iosonde.core.errors import DataError
from iosonde.core.types import Role
from iosonde.data.query import ResponseQuery
from iosonde.data.responses import Response, choose_response
from iosonde.data.source import Source
from iosonde.model.fit.features import Examples, examples
from iosonde.model.fit.folds import Groups

from .caveats import caveats, warn_single_trials


@dataclass(frozen=True)
class Learned:
    """``examples`` of one ``response``, on the named factors, or on a store's set factors."""

    response: Response
    examples: Examples

    def judged_by(self, groups: Groups) -> Examples:
        """Return the examples, with a warning if trials of one bring-up count individually in their folds."""
        if groups.n_bring_ups:
            return self.examples
        notes = warn_single_trials(self.response, [feature.name for feature in self.examples.features])
        return replace(self.examples, warnings=(*self.examples.warnings, *notes))


def learned(source: Source, query: ResponseQuery) -> Learned:
    """Return the rows to learn from. Raises InputError if a table's response or factors are not named, DataError."""
    source.require_names(query)
    response = choose_response(source, query).with_scattered()
    names = list(source.apart(query.on)) or [
        name for name in set_factors(response) if _has_several_levels(response, name)
    ]
    if not names:
        raise DataError(
            "nothing-varies",
            "{title}: no factor has two levels",
            "what never varies explains nothing",
            title=response.title,
        )
    training_examples = examples(response.rows, response.title, names)
    units = source.declared_units
    features = tuple(
        replace(feature, unit=feature.unit or units.get(feature.name, "")) for feature in training_examples.features
    )
    warnings = (*caveats(response), *training_examples.warnings)
    return Learned(response, replace(training_examples, features=features, unit=response.unit, warnings=warnings))


def set_factors(response: Response) -> list[str]:
    """Return the set factors, as the experiments declare; observed ones cannot be chosen."""
    return [factor.name for factor in response.factors if factor.role is Role.SET]


def _has_several_levels(response: Response, name: str) -> bool:
    return len(response.rows.column(name).codes()[1]) > 1

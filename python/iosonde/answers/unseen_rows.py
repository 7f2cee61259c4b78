"""Which rows that a model had not seen are drawn, and how: what ``fit`` and ``validate`` are both asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from iosonde.core.errors import InputError
from iosonde.model.fit.features import Examples
from iosonde.model.fit.unseen import UnseenAgainst, UnseenClasses, unseen_against, unseen_classes
from iosonde.model.fit.validate import Judged

from .model_file import full_name, setting


@dataclass(frozen=True)
class UnseenRows:
    """The rows that ``judged`` was judged by."""

    examples: Examples
    judged: Judged

    def classes(self) -> UnseenClasses | None:
        """Their classes; None of a response below 0."""
        return unseen_classes(self.examples, self.judged)

    def against(self, factor: str | None, at: Mapping[str, Any]) -> UnseenAgainst | None:
        """Those at some levels, by one factor; None where none is named. Raises InputError, DataError."""
        if factor is None:
            if at:
                raise InputError(
                    "missing-option",
                    "what is held says nothing without the factor along x",
                    "name it: {spell.against:FACTOR}",
                )
            return None
        features = self.examples.features
        return unseen_against(self.examples, self.judged, full_name(features, factor), setting(features, at))

"""Unseen rows of a model and how they are drawn: options shared by ``fit`` and ``validate``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from iosonde.answers.model_file import full_name, setting
from iosonde.core.errors import InputError
from iosonde.model.fit.features import Examples
from iosonde.model.fit.unseen import UnseenAgainst, UnseenClasses, unseen_against, unseen_classes
from iosonde.model.fit.validate import Judged


@dataclass(frozen=True)
class UnseenRows:
    """Rows on which ``judged`` was tested."""

    examples: Examples
    judged: Judged

    def classes(self) -> UnseenClasses | None:
        """Return their classes; None for a response below 0."""
        return unseen_classes(self.examples, self.judged)

    def against(self, factor: str | None, at: Mapping[str, Any]) -> UnseenAgainst | None:
        """Return the rows at some levels, by one factor; None if none is named. Raises InputError, DataError."""
        if factor is None:
            if at:
                raise InputError(
                    "missing-option",
                    "held factors have no effect without a factor along x",
                    "name it: {spell.against:FACTOR}",
                )
            return None
        features = self.examples.features
        return unseen_against(self.examples, self.judged, full_name(features, factor), setting(features, at))

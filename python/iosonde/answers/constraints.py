"""Constraints of a model: those given by the user, and those that a stored experiment was designed under."""

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from iosonde.core.column_units import split_unit
from iosonde.core.errors import InputError, IosondeError
from iosonde.core.expression import read
from iosonde.core.message import Message, spell
from iosonde.core.table import tidy_number
from iosonde.data.source import Source
from iosonde.model.fit.features import Examples, Feature
from iosonde.model.fit.fitted import decode_setting

Broken = Callable[[Mapping[str, Any]], str | None]


@dataclass(frozen=True)
class SettingConstraints:
    """Constraints on settings: those ``requested`` by the caller, and those of the experiments of ``source``."""

    requested: tuple[str, ...] = ()
    source: Source | None = None

    def over(self, examples: Examples) -> tuple[Broken, list[str]]:
        """Return (the check of settings, why a stored constraint is dropped). Raises InputError if a requested one does
        not concern these factors, or measurements break it."""
        build_user_check(self.requested, examples)
        designed, dropped = collect_designed(self.source, examples) if self.source is not None else ([], [])
        return build_constraint_check(tuple(dict.fromkeys((*self.requested, *designed))), examples.features), dropped


def build_constraint_check(texts: Sequence[str], features: Sequence[Feature], where: str = "") -> Broken:
    """Build a check of settings that returns the first broken constraint, or None. Names are factors without their
    units. ``where``: source of the constraints, by default the option. Raises InputError for an invalid expression."""
    words = _strip_units(features)
    expressions = [read(text, list(words.values()), where or f"{spell.constraint}") for text in texts]

    def find_broken(setting: Mapping[str, Any]) -> str | None:
        cell = {words[name]: value for name, value in setting.items() if name in words}
        return next((expression.text for expression in expressions if not expression.holds(cell)), None)

    return find_broken


def build_user_check(texts: Sequence[str], examples: Examples) -> Broken:
    """Check the user's constraints. Raises InputError if a measured setting breaks one."""
    broken = build_constraint_check(texts, examples.features)
    if not texts:
        return broken
    if wrong := _find_violation(broken, examples):
        text, at = wrong
        setting_text = ", ".join(f"{name}={value}" for name, value in at.items())
        raise InputError(
            "constraint-violated",
            "'{constraint}' does not hold at {setting}, which was measured",
            "correct the constraint, or leave such rows out with {spell.where}",
            constraint=text,
            setting=setting_text,
        )
    return broken


def collect_designed(source: Source, examples: Examples) -> tuple[list[str], list[str]]:
    """Return (constraints of the experiments whose runs are learned from; why others are dropped). A factor absent from
    the model is replaced by its value, if all runs share it."""
    ids = {run.experiment for run in source.runs}
    taken: dict[str, None] = {}
    dropped: dict[str, None] = {}
    for experiment in source.experiments:
        design = experiment.settings.get("design") or {}
        if experiment.id not in ids or not isinstance(design, Mapping):
            continue
        for text in design.get("constraints") or ():
            try:
                constraint = _substitute_factors(text, [factor.name for factor in experiment.factors], source, examples)
            except IosondeError as error:
                template = "the constraint '{constraint}' of the experiment is not kept: {reason}"
                dropped[Message("constraint-dropped", template, constraint=text, reason=error.message)] = None
                continue
            if constraint:
                taken[constraint] = None
    return list(taken), list(dropped)


def _substitute_factors(text: str, names: Sequence[str], source: Source, examples: Examples) -> str:
    """Rewrite the constraint over the model's factors; empty if it names none of them. Raises IosondeError."""
    model_names = set(_strip_units(examples.features).values())
    expression = read(text, list(names), "the experiment")
    if not expression.names & model_names:
        return ""
    values = {name: repr(_get_only_value(source, name)) for name in sorted(expression.names - model_names)}
    written = ast.unparse(expression.replace_names(values)) if values else expression.text
    if _find_violation(build_constraint_check([written], examples.features, "the experiment"), examples):
        raise InputError("constraint-violated", "trials that were measured break it")
    return written


def _get_only_value(source: Source, name: str) -> Any:
    column = source.table.column(name)
    levels = [level for level in column.codes()[1] if level is not None]
    if len(levels) != 1:
        raise InputError("unknown-factor", "the model has no factor {name}", name=name)
    return tidy_number(float(levels[0])) if column.numeric else levels[0]


def _find_violation(broken: Broken, examples: Examples) -> tuple[str, dict[str, Any]] | None:
    """Return (constraint, setting) of the first measured setting that breaks a constraint."""
    _, first = np.unique(examples.cells, return_index=True)
    for row in examples.x[first]:
        at = decode_setting(examples.features, row)
        if text := broken(at):
            return text, at
    return None


def _strip_units(features: Sequence[Feature]) -> dict[str, str]:
    return {feature.name: split_unit(feature.name)[0] for feature in features}

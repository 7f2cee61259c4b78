"""A model of DATA, chosen by cross-validation, and the unseen rows that its figures show."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from iosonde.answers.answer import Answer
from iosonde.answers.besides import Besides, list_varying_columns
from iosonde.answers.constraints import Broken, build_constraint_check, build_user_check, collect_designed
from iosonde.answers.learned import Learning, choose_best_model, select_examples
from iosonde.answers.model_file import complete_factor_name, parse_setting
from iosonde.answers.verdict import build_model_claim, describe_choice
from iosonde.core.errors import InputError, IosondeError
from iosonde.core.table import Table
from iosonde.core.units import choose_human_scale
from iosonde.core.verdict import Verdict
from iosonde.data.query import ResponseQuery
from iosonde.data.source import Source
from iosonde.data.varying import list_other_varying
from iosonde.model.families import complete_options
from iosonde.model.families.linear import expand_terms
from iosonde.model.families.nodes import TreeRule, iter_leaf_rules
from iosonde.model.fit.choose import Choice
from iosonde.model.fit.features import Examples
from iosonde.model.fit.fitted import compute_negative_share, train_model
from iosonde.model.fit.folds import group_inseparable_rows
from iosonde.model.fit.unseen import UnseenAgainst, UnseenClasses, find_unseen_classes, select_unseen_by_factor
from iosonde.model.fit.validate import Candidate, Judged
from iosonde.stats.assumptions import judge
from iosonde.stats.regression.formula import list_term_columns
from iosonde.stats.regression.regress import Regression, regress


@dataclass(frozen=True)
class UnseenRows:
    """Rows on which ``judged`` was tested."""

    examples: Examples
    judged: Judged

    def classes(self) -> UnseenClasses | None:
        """Return their classes; None for a response below 0."""
        return find_unseen_classes(self.examples, self.judged)

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
        return select_unseen_by_factor(
            self.examples, self.judged, complete_factor_name(features, factor), parse_setting(features, at)
        )


@dataclass(frozen=True)
class Fitted(Answer):
    """A model fitted to DATA. ``choice`` holds the candidates and the chosen model. ``linear`` is the regression of the
    linear candidate, with its caveats, or None. ``below``: model → the share of valid designs for which it predicts
    impossible values below 0. ``together`` was kept in one fold. ``besides``: varying columns that no model uses."""

    examples: Examples
    choice: Choice
    linear: Regression | None
    below: dict[str, float]
    together: str
    level: float
    besides: Besides = Besides()

    def content(self) -> dict[str, Any]:
        """As ``iosonde fit --json``."""
        model = self.choice.model
        return {
            "response": self.examples.response,
            "unit": self.examples.unit,
            **self.choice.to_json(),
            "constraints": list(model.constraints),
            "negative_share": self.below,
            "linear_findings": [f.to_json() for f in self.linear.findings] if self.linear else None,
            "form": dict(model.form),
        }

    def records(self) -> list[dict[str, Any]]:
        """Return one row per candidate model."""
        return [
            tried_model.flat() | {"taken": place == self.choice.chosen}
            for place, tried_model in enumerate(self.choice.tried)
        ]

    @property
    def sentence(self) -> str:
        """Describe the chosen model, the reason, and its error."""
        text = describe_choice(
            self.choice, choose_human_scale(abs(self.choice.baseline.mae.value or 1.0), self.examples.unit)
        )
        return f"{text} {self.besides.sentence}".rstrip()

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Return whether the chosen model beats the overall mean on unseen rows."""
        names = tuple(feature.name for feature in self.examples.features)
        return (judge(build_model_claim(self.choice, self.examples.response, names), self.besides.checks),)

    @property
    def rules(self) -> list[TreeRule] | None:
        """Return the model as rules; None if it is not a tree."""
        form = self.choice.model.form
        return list(iter_leaf_rules(form["nodes"], form["factors"])) if "nodes" in form else None

    @property
    def unseen(self) -> UnseenRows:
        """Return the rows that the chosen model was judged by."""
        return UnseenRows(self.examples, self.choice.tried[self.choice.chosen])


def fit(
    source: Source,
    query: ResponseQuery,
    how: Learning | None = None,
    constraints: tuple[str, ...] = (),
    progress: Callable[[str, float], None] | None = None,
) -> Fitted:
    """Fit the simplest of the best models. ``constraints`` hold for every setting, as ``stripes <= servers``, in
    addition to those of a store's experiments. ``progress`` is called with the current step and the share done. Raises
    InputError, DataError."""
    how = how or Learning()
    training = select_examples(source, query)
    response = training.response
    names = list_term_columns(query.on, response.rows) if query.on else response.names
    others = list_other_varying(source, response, names) if query.on else ()
    more = list_varying_columns(source, response, others, names, query.level)
    if query.on:
        more = replace(more, twins=())  # a model of one predicts as well as one of the other
    together = group_inseparable_rows(training.examples, how.together)
    examples = training.add_single_trial_warning(together)
    build_user_check(constraints, examples)
    designed, notes = collect_designed(source, examples)
    active_constraints = tuple(dict.fromkeys((*constraints, *designed)))
    choice = choose_best_model(examples, together, how, query.level, progress)
    warnings = (*more.warnings, *choice.model.warnings, *notes)
    choice = replace(choice, model=replace(choice.model, constraints=active_constraints, warnings=warnings))
    candidates = (model.candidate for model in choice.tried if not model.refused)
    linear = next((candidate for candidate in candidates if candidate.family == "linear"), None)
    broken = build_constraint_check(active_constraints, examples.features) if active_constraints else None
    below = _find_negative_predictions(examples, choice, linear, broken)
    regression = None if linear is None else _regress_linear(response.rows, examples, linear, query.level)
    return Fitted(examples, choice, regression, below, how.together, query.level, more)


def _regress_linear(table: Table, examples: Examples, linear: Candidate, level: float) -> Regression | None:
    terms = expand_terms(str(linear.options.get("terms", ""))) or [feature.name for feature in examples.features]
    try:
        return regress(table, examples.response, terms, level)
    except IosondeError:
        return None  # no row has some combination of levels: the model omits it, the regression refuses it


def _find_negative_predictions(
    examples: Examples, choice: Choice, linear: Candidate | None, broken: Broken | None
) -> dict[str, float]:
    valid = None if broken is None else lambda setting: broken(setting) is None
    models = [choice.model]
    if linear is not None and choice.model.family != "linear":
        models.append(train_model(examples, "linear", complete_options("linear", linear.options), choice.model.seed))
    return {model.family: share for model in models if (share := compute_negative_share(model, valid)) > 0}

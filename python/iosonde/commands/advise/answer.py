"""Which setting to choose for which workload, and what that gains where it was not learned."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from iosonde.answers.answer import Answer, join_sentences
from iosonde.answers.besides import Besides, list_columns_of_choice
from iosonde.answers.caveats import list_caveats, warn_logarithms, warn_single_trials
from iosonde.answers.learned import list_set_factors
from iosonde.answers.model_file import parse_setting
from iosonde.core.errors import DataError, InputError
from iosonde.core.level_text import format_setting
from iosonde.core.message import Message
from iosonde.core.metrics import warn_unknown_direction
from iosonde.core.verdict import Verdict, VerdictState
from iosonde.core.where import find_matching_rows
from iosonde.core.words import format_count, format_ratio_interval, format_share
from iosonde.data.query import ResponseQuery
from iosonde.data.responses import Response, build_responses, choose_per_operation, choose_response
from iosonde.data.source import Source
from iosonde.data.varying import list_other_varying
from iosonde.explain.advise import NOTHING, Advice, Wish, advise_settings
from iosonde.explain.advise_trial import LESS, MORE, UNCHANGED, UNTOLD, Tried, validate_by_new_trials
from iosonde.explain.advise_words import describe_advice, describe_case
from iosonde.explain.hints import build_hint_files
from iosonde.explain.rules import Rule
from iosonde.model.fit.features import encode_setting, list_factors_outside_range
from iosonde.stats.assumptions import judge

from .in_use import find_initial_levels
from .verdict import claim_advice, claim_trial, withdraw_advice

_MIN_COMPLETE_SHARE = 0.5  # of the rows, for a column to be taken for the workload unasked
_VERDICTS = {
    UNCHANGED: "The advice, tried, brought the predicted gain",
    LESS: "The advice, tried, brought less than predicted",
    MORE: "The advice, tried, brought more than predicted",
    UNTOLD: "It is inconclusive whether the advice brought the predicted gain",
}


@dataclass(frozen=True)
class Advising:
    """Options of advice: the columns to choose (none: the only factor) and how settings are judged.
    ``workload_columns`` describes a workload. None: all other set factors of a store, or columns of a table that look
    set and of which each setting was tried. ``better`` is ``higher`` or ``lower``; None: as the response defines.
    ``wish``: further options; its unit and direction are those of the response."""

    choose: tuple[str, ...] = ()
    workload_columns: tuple[str, ...] | None = None
    better: str | None = None
    wish: Wish = Wish()


@dataclass(frozen=True)
class Advised(Answer):
    """Hold the ``advice`` from DATA, with the workload ``case`` of the query or the result ``tried`` of new trials.
    ``besides``: columns that vary and are neither chosen nor part of the workload. ``withdrawn``: the verdict on an
    advice that does not follow from the data, which is no longer in ``advice``."""

    advice: Advice
    case: Mapping[str, Any] | None = None
    tried: Tried | None = None
    besides: Besides = Besides()
    withdrawn: Verdict | None = None

    def content(self) -> dict[str, Any]:
        """As ``iosonde advise --json``."""
        content = self.advice.to_json()
        if self.case is not None:
            rule = self.rule
            content["for"] = {"instance": dict(self.case), "rule": None if rule is None else rule.to_json()}
        if self.tried is not None:
            content["against"] = self.tried.to_json()
        return content

    def records(self) -> list[dict[str, Any]]:
        """Return one row per setting, judged as a default."""
        return [default.to_json() for default in self.advice.defaults]

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Return whether a setting is advised; with new trials, whether the advice beats what it replaces."""
        claim = claim_advice(self.advice) if self.tried is None else claim_trial(self.advice, self.tried)
        return (self.withdrawn or judge(claim, self.besides.checks),)

    def withdraw(self) -> "Advised":
        """Return the answer without its advice if a failed assumption takes that away."""
        (verdict,) = self.verdicts
        if self.advice.kind == NOTHING or verdict.state is VerdictState.DIFFERENT or not verdict.why:
            return self
        return replace(self, advice=withdraw_advice(self.advice), withdrawn=verdict)

    @property
    def rule(self) -> Rule | None:
        """Return the rule for the workload of the query; None if nothing is advised."""
        return None if self.case is None else self.advice.find_rule_for(self.case)

    @property
    def sentence(self) -> str:
        """Return the advice, for one workload or for all; with new trials, their result."""
        if self.tried is not None:
            tried = self.tried
            return (
                f"{_VERDICTS[tried.verdict]}: {format_ratio_interval(tried.obtained)} times, predicted "
                f"{format_ratio_interval(tried.predicted)}."
            )
        if self.withdrawn is not None:
            return f"No advice: {self.withdrawn.why.rstrip('.')}."
        rule = self.rule
        own = None if self.case is None else self.advice.find_case(self.case)
        if own is not None and (own.is_sure or rule is None):
            return describe_case(self.advice, own)
        if rule is None:
            return f"{describe_advice(self.advice)} {self.besides.sentence}".rstrip()
        return (
            f"{rule.then} ({rule.when}): {format_share(rule.share)} of the best in "
            f"{format_count(rule.instances, 'workload')}, at worst {format_share(rule.lowest)}."
        )

    def files(self, system: str, names: Mapping[str, str]) -> dict[str, str]:
        """File name → content: the rules for a file system or tool, in which columns and levels have ``names``.
        Raises InputError where nothing was advised."""
        if not self.advice.rules:
            raise InputError(
                "no-rules", "cannot write rules: no setting was advised", "measure more; the text says what"
            )
        return build_hint_files(self.advice.rules, system, dict(names), self.advice.instances.settings)


@dataclass(frozen=True)
class AdvisedEach(Answer):
    """Advice on several responses of a store; ``exclusions`` says of which there is none, and why."""

    items: tuple[Advised, ...]
    exclusions: tuple[str, ...] = ()

    def content(self) -> dict[str, Any]:
        """As ``iosonde advise --json`` of several responses."""
        return {"advice": [item.content() for item in self.items], "left_out": list(self.exclusions)}

    def records(self) -> list[dict[str, Any]]:
        """Return one row per setting of each response."""
        return [{"response": item.advice.instances.response, **row} for item in self.items for row in item.records()]

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Collect the verdicts of all responses."""
        return tuple(verdict for item in self.items for verdict in item.verdicts)

    @property
    def sentence(self) -> str:
        """Join the advice on each response."""
        return join_sentences([(item.advice.instances.response, item.sentence) for item in self.items])

    @property
    def advice(self) -> Advice:
        """Return the only advice. Raises InputError if there are several."""
        raise InputError(
            "ambiguous-response",
            "the advice is on {n_responses} responses",
            "name one with {spell.response}: {names}",
            n_responses=len(self.items),
            names=", ".join(f"'{item.advice.instances.response}'" for item in self.items),
        )

    def files(self, system: str, names: Mapping[str, str]) -> dict[str, str]:
        """Raise InputError: rules are written for one response only."""
        raise AssertionError(self.advice)


def advise(
    source: Source,
    query: ResponseQuery,
    how: Advising,
    workload: Mapping[str, str] | None = None,
    new: Source | None = None,
) -> Advised | AdvisedEach:
    """Advise a setting from the trials of DATA for every response in ``query``; of a store for every operation. Limit
    it to one ``workload``, or test it on ``new`` trials. Raises InputError, DataError."""
    if workload is not None and new is not None:
        raise InputError(
            "conflicting-options",
            "{spell.for} asks for one workload, {spell.against} compares all",
            "give one of the two",
        )
    how, notes = (how, ()) if how.choose else _choose_only_factor(source, query, how)
    answers, failures = list[Advised](), list[DataError]()
    for response in choose_per_operation(source, replace(query, on=(*how.choose, *(how.workload_columns or ())))):
        try:
            answers.append(_advise_on_response(source, response, query, how, workload, new, notes))
        except DataError as error:
            failures.append(error)
    if not answers:
        raise failures[0] if failures else _build_no_rows_error(source)
    if len(answers) == 1 and not failures:
        return answers[0]
    return AdvisedEach(tuple(answers), tuple(failure.message for failure in failures))


def _choose_only_factor(source: Source, query: ResponseQuery, how: Advising) -> tuple[Advising, tuple[str, ...]]:
    """Choose the only factor that is not part of the workload, with a note. Raises InputError, with all of them."""
    responses = (response.with_scattered() for response in build_responses(source, replace(query, on=())))
    every = dict.fromkeys(name for response in responses for name in list_set_factors(response))
    names = [name for name in every if name not in (how.workload_columns or ())]
    if len(names) != 1:
        raise InputError(
            "missing-option",
            "{spell.choose} is missing: the columns that one may set",
            "choose among: {columns}" if names else "DATA has no factor that varies",
            columns=", ".join(names),
        )
    note = Message("assumed-choice", "data: {column} is chosen ({spell.choose} names another)", column=names[0])
    return replace(how, choose=tuple(names)), (note,)


def _advise_on_response(
    source: Source,
    response: Response,
    query: ResponseQuery,
    how: Advising,
    workload: Mapping[str, str] | None,
    new: Source | None,
    notes: tuple[str, ...],
) -> Advised:
    if not len(response.rows):
        raise _build_no_rows_error(source)
    query = replace(query, response=(response.title,))
    chosen = [response.rows.column(name).name for name in how.choose]
    factors, workload_note = how.workload_columns, ""
    if factors is None:
        factors, workload_note = _infer_workload(source, query, response, chosen)
    workload_columns = source.apart((*how.choose, *factors))[len(how.choose) :]
    current, setting_note = how.wish.current, ""
    if current is None:
        current, setting_note = find_initial_levels(source, response.rows, how.choose)
    fixed = [response.rows.column(name).name for name in factors]
    others = list_other_varying(source, response, [*chosen, *fixed])
    more = list_columns_of_choice(source, response, others, chosen, fixed, query.level)
    wish = replace(
        how.wish,
        unit=response.unit,
        lower=response.lower_is_better if how.better is None else how.better == "lower",
        current=current,
    )
    advice = advise_settings(response.rows, response.title, how.choose, workload_columns, query.level, wish)
    notes = (*notes, workload_note, setting_note, *more.varying_warnings("given"), *list_caveats(response))
    warnings = (
        *notes,
        *warn_unknown_direction(response.metric, how.better),
        *warn_single_trials(response, how.choose),
        *warn_logarithms(response),
        *advice.warnings,
    )
    advice = replace(advice, warnings=tuple(filter(None, warnings)))
    case = None if workload is None else _build_case(advice, workload, source)
    if new is None:
        return Advised(advice, case, besides=more).withdraw()
    again = choose_response(new, replace(query, on=(*how.choose, *factors)))
    return Advised(advice, case, validate_by_new_trials(advice, again.rows), more)


def _build_no_rows_error(source: Source) -> DataError:
    return DataError("no-rows", "{name} holds no rows", "give a table with measurements", name=source.name)


def _infer_workload(
    source: Source, query: ResponseQuery, response: Response, chosen: Sequence[str]
) -> tuple[tuple[str, ...], str]:
    """Return the default columns of a workload, and for a table a line that names them. For a store they are the other
    set factors. For a table they are columns that look set, if nearly every workload was measured with each setting."""
    if source.knows_factors:
        others = list_set_factors(choose_response(source, replace(query, on=())).with_scattered())
        return tuple(name for name in others if name not in chosen), ""
    factors: list[str] = []
    for name in list_other_varying(source, response, chosen):
        if _compute_complete_share(response, chosen, [*factors, name]) >= _MIN_COMPLETE_SHARE:
            factors.append(name)
    if not factors:
        return (), ""
    return tuple(factors), Message(
        "assumed-workload", "taken for the workload, as {spell.given} names none: {columns}", columns=", ".join(factors)
    )


def _compute_complete_share(response: Response, chosen: Sequence[str], factors: Sequence[str]) -> float:
    """Return the share of rows in workloads that were measured with every setting."""
    settings = response.rows.number_groups(chosen)
    count = np.unique(settings).size
    sizes = [rows.size for _, rows in response.rows.groups(factors) if np.unique(settings[rows]).size == count]
    return sum(sizes) / len(response.rows)


def _build_case(advice: Advice, workload: Mapping[str, str], source: Source) -> dict[str, Any]:
    """Return the workload of the query as levels. Raises InputError for one that was never tried, or that DATA leaves
    out."""
    features = advice.instances.features
    chosen = [name for name in workload if name in advice.instances.choose]
    if chosen:
        raise InputError(
            "not-a-workload-factor",
            "'{factor}' is chosen, not given",
            "{spell.for} describes the workload; {spell.current} the setting",
            factor=chosen[0],
        )
    case = parse_setting(features, workload)
    beyond = list_factors_outside_range(features, encode_setting(features, case))
    if not beyond and advice.cases and advice.find_case(case) is None:
        beyond = [Message("unmeasured-setting", "{setting} was not measured", setting=format_setting(workload, {}))]
    if beyond:
        raise InputError(
            "outside-measured-range",
            "no advice beyond what was tried: {reason}",
            "measure there, or ask for a workload inside",
            reason=beyond[0],
        )
    conditions = [condition for condition in source.where if condition[0] in case]
    if conditions and not find_matching_rows({name: [value] for name, value in case.items()}, conditions):
        raise InputError(
            "excluded-by-filter",
            "{spell.for:{workload}} is left out by {spell.where}",
            "ask for a workload that the conditions allow",
            workload=",".join(f"{name}={value}" for name, value in workload.items()),
        )
    return case

"""Which setting to choose for which workload, and what that gains where it was not learned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from iosonde.core.errors import DataError, InputError
from iosonde.core.message import Message
from iosonde.core.verdict import Direction, Verdict, VerdictState
from iosonde.core.where import matching_rows
from iosonde.core.words import counted, percent, ratio
from iosonde.data.asked import ResponseQuery
from iosonde.data.in_use import in_use
from iosonde.data.responses import Response, choose_per_operation, choose_response
from iosonde.data.source import Source
from iosonde.data.varying import varying_besides
from iosonde.explain.advise import Advice, Wish
from iosonde.explain.advise import advise as advised
from iosonde.explain.advise_trial import LESS, MORE, UNCHANGED, UNTOLD, Tried, against
from iosonde.explain.advise_words import sentence_of
from iosonde.explain.hints import files_of
from iosonde.explain.rules import Rule
from iosonde.model.fit.features import encode, outside

from .advise_verdict import advised_verdict, claim_of
from .answer import Answer, join_sentences
from .besides import Besides, varying
from .caveats import caveats, warn_logarithms, warn_single_trials
from .learned import set_factors

_MIN_COMPLETE_SHARE = 0.5  # of the rows, for a column to be taken for the workload unasked
_VERDICTS = {
    UNCHANGED: "The advice, tried, brought what it said",
    LESS: "The advice, tried, brought less than it said",
    MORE: "The advice, tried, brought more than it said",
    UNTOLD: "Whether the advice brought what it said cannot be told",
}


@dataclass(frozen=True)
class Advising:
    """What may be chosen, and how it is judged.

    ``workload_columns`` describes a workload; None: all other factors of a store that were set, or columns of a table
    that look set and of which each setting was tried. ``better`` is ``higher`` or ``lower``, None: as of the response.
    ``current`` is the setting in use, by column; the gain is then over it. A tree asks at most ``depth`` questions;
    ``full``: all of them, not only those that are worth it. ``weigh``: instances count by what choosing wrong loses
    there.
    """

    choose: tuple[str, ...]
    workload_columns: tuple[str, ...] | None = None
    better: str | None = None
    current: Mapping[str, str] | None = None
    depth: int = 5
    full: bool = False
    weigh: bool = True


@dataclass(frozen=True)
class Advised(Answer):
    """``advice`` from DATA; the one workload ``case`` that was asked about, or what new trials say: ``tried``.
    ``besides``: columns that vary and are neither chosen nor given."""

    advice: Advice
    case: Mapping[str, Any] | None = None
    tried: Tried | None = None
    besides: Besides = Besides()

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
        """One row a setting: what it is as a default."""
        return [default.to_json() for default in self.advice.defaults]

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Whether a setting is advised; of new trials whether the advice is better than what it replaces."""
        return (self.besides.judge(advised_verdict(self.advice) if self.tried is None else self._tried_verdict),)

    @property
    def _tried_verdict(self) -> Verdict:
        assert self.tried is not None
        obtained = self.tried.obtained
        up = obtained.low is not None and obtained.low > 1
        down = obtained.high is not None and obtained.high < 1
        advice = self.advice
        return Verdict(
            "best",
            advice.instances.response,
            advice.instances.choose,
            VerdictState.DIFFERENT if up or down else VerdictState.INCONCLUSIVE,
            Direction.UP if up else Direction.DOWN if down else None,
            claim_of(advice),
            obtained,
        )

    @property
    def rule(self) -> Rule | None:
        """The rule for the workload that was asked about; None where nothing is advised."""
        return None if self.case is None else self.advice.rule_for(self.case)

    @property
    def sentence(self) -> str:
        """What is advised, for the workload that was asked about or for all; or what became of it, tried."""
        if self.tried is not None:
            tried = self.tried
            return f"{_VERDICTS[tried.verdict]}: {ratio(tried.obtained)} times, predicted {ratio(tried.predicted)}."
        rule = self.rule
        if rule is None:
            return f"{sentence_of(self.advice)} {self.besides.sentence}".rstrip()
        learned = counted(rule.instances, "instance")
        return (
            f"{rule.then} ({rule.when}): {percent(rule.share)} of the best on {learned}, worst {percent(rule.lowest)}."
        )

    def files(self, system: str, names: Mapping[str, str]) -> dict[str, str]:
        """File name → content: the rules for a file system or tool, in which columns and levels have ``names``.
        Raises InputError where nothing was advised."""
        if not self.advice.rules:
            raise InputError(
                "no-rules", "nothing was advised, so there are no rules to write", "measure more; the text says what"
            )
        return files_of(self.advice.rules, system, dict(names), self.advice.instances.settings)


@dataclass(frozen=True)
class AdvisedEach(Answer):
    """Advice on several responses of a store; ``exclusions`` says of which there is none, and why."""

    items: tuple[Advised, ...]
    exclusions: tuple[str, ...] = ()

    def content(self) -> dict[str, Any]:
        """As ``iosonde advise --json`` of several responses."""
        return {"advice": [item.content() for item in self.items], "left_out": list(self.exclusions)}

    def records(self) -> list[dict[str, Any]]:
        """One row a setting of each response."""
        return [{"response": item.advice.instances.response, **row} for item in self.items for row in item.records()]

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """That of each response."""
        return tuple(verdict for item in self.items for verdict in item.verdicts)

    @property
    def sentence(self) -> str:
        """What is advised on each."""
        return join_sentences([(item.advice.instances.response, item.sentence) for item in self.items])

    @property
    def advice(self) -> Advice:
        """Where one is needed. Raises InputError."""
        names = ", ".join(f"'{item.advice.instances.response}'" for item in self.items)
        raise InputError(
            "ambiguous-response",
            "the advice is on {n_responses} responses",
            "name one with {spell.response}: {names}",
            n_responses=len(self.items),
            names=names,
        )

    def files(self, system: str, names: Mapping[str, str]) -> dict[str, str]:
        """Of one response alone: raises InputError."""
        raise AssertionError(self.advice)


def advise(
    source: Source,
    query: ResponseQuery,
    how: Advising,
    workload: Mapping[str, str] | None = None,
    new: Source | None = None,
) -> Advised | AdvisedEach:
    """Advice from the trials of DATA, of a store on every operation that is asked for; for one ``workload``, or held
    against ``new`` trials. Raises InputError, DataError."""
    if workload is not None and new is not None:
        raise InputError(
            "conflicting-options",
            "{spell.for} asks for one workload, {spell.against} compares all",
            "give one of the two",
        )
    if source.store is None and not query.response:
        raise InputError(
            "missing-option", "{spell.response} is missing", "columns: {names}", names=", ".join(source.table.names)
        )
    answers, failures = list[Advised](), list[DataError]()
    for response in choose_per_operation(source, replace(query, on=(*how.choose, *(how.workload_columns or ())))):
        try:
            answers.append(_advise_on_response(source, response, query, how, workload, new))
        except DataError as error:
            failures.append(error)
    if not answers:
        raise failures[0] if failures else _no_rows(source)
    return (
        answers[0]
        if len(answers) == 1 and not failures
        else AdvisedEach(tuple(answers), tuple(failure.message for failure in failures))
    )


def _advise_on_response(
    source: Source,
    response: Response,
    query: ResponseQuery,
    how: Advising,
    workload: Mapping[str, str] | None,
    new: Source | None,
) -> Advised:
    if not len(response.rows):
        raise _no_rows(source)
    response_query = replace(query, response=(response.title,)) if source.store is not None else query
    chosen = [response.rows.column(name).name for name in how.choose]
    factors, workload_note = (
        (how.workload_columns, "")
        if how.workload_columns is not None
        else _infer_workload(source, response_query, response, chosen)
    )
    how = replace(how, workload_columns=source.apart((*how.choose, *factors))[len(how.choose) :])
    current, setting_note = in_use(source, response.rows, how.choose) if how.current is None else (how.current, "")
    fixed = [response.rows.column(name).name for name in factors]
    more = varying(response, varying_besides(source, response, (*chosen, *fixed)), [*chosen, *fixed], query.level)
    advice = advice_of(response, replace(how, current=current), query.level)
    warnings = (
        *(text for text in (workload_note, setting_note) if text),
        *more.varying_warnings("given"),
        *advice.warnings,
    )
    advice = replace(advice, warnings=warnings)
    case = None if workload is None else _build_case(advice, workload, source)
    if new is None:
        return Advised(advice, case, besides=more)
    again = choose_response(new, replace(response_query, on=(*how.choose, *factors)))
    return Advised(advice, case, against(advice, again.rows), more)


def _no_rows(source: Source) -> DataError:
    return DataError("no-rows", "{name} holds no rows", "give a table with measurements", name=source.name)


def advice_of(response: Response, how: Advising, level: float) -> Advice:
    """The advice of one response; without ``workload_columns`` there is one instance. Raises InputError, DataError."""
    lower = response.lower_is_better if how.better is None else how.better == "lower"
    wish = Wish(response.unit, lower, how.depth, how.full, how.weigh, how.current)
    advice = advised(response.rows, response.title, how.choose, how.workload_columns or (), level, wish)
    notes = (*caveats(response), *warn_single_trials(response, how.choose), *warn_logarithms(response))
    return replace(advice, warnings=(*notes, *advice.warnings))


def _infer_workload(
    source: Source, query: ResponseQuery, response: Response, chosen: Sequence[str]
) -> tuple[tuple[str, ...], str]:
    """What describes a workload where nobody says it, and of a table a line that says so: the other factors of a store
    that were set; the columns of a table that look set, as long as each setting was tried at what they tell apart."""
    if source.store is not None:
        others = set_factors(choose_response(source, replace(query, on=())).with_scattered())
        return tuple(name for name in others if name not in chosen), ""
    factors: list[str] = []
    for name in varying_besides(source, response, chosen):
        if _complete_share(response, chosen, [*factors, name]) >= _MIN_COMPLETE_SHARE:
            factors.append(name)
    if not factors:
        return (), ""
    template = "taken for the workload, as {spell.given} names none: {columns}"
    return tuple(factors), Message("assumed-workload", template, columns=", ".join(factors))


def _complete_share(response: Response, chosen: Sequence[str], factors: Sequence[str]) -> float:
    """The share of the rows that belong to workloads which were measured with every setting."""
    settings = response.rows.groups(chosen)
    number = np.empty(len(response.rows), dtype=np.intp)
    for at, (_, rows) in enumerate(settings):
        number[rows] = at
    sizes = [rows.size for _, rows in response.rows.groups(factors) if np.unique(number[rows]).size == len(settings)]
    return sum(sizes) / len(response.rows)


def _build_case(advice: Advice, workload: Mapping[str, str], source: Source) -> dict[str, Any]:
    """The workload that is asked about. Raises InputError for one that was never tried, or that DATA leaves out."""
    features = advice.instances.features
    chosen = [name for name in workload if name in advice.instances.choose]
    if chosen:
        raise InputError(
            "not-a-workload-factor",
            "'{factor}' is chosen, not given",
            "{spell.for} describes the workload; {spell.current} the setting",
            factor=chosen[0],
        )
    numeric = {feature.name for feature in features if feature.numeric}
    case = {name: _parse_number(value) if name in numeric else value for name, value in workload.items()}
    beyond = outside(features, encode(features, case))
    if beyond:
        raise InputError(
            "outside-measured-range",
            "no advice beyond what was tried: {reason}",
            "measure there, or ask for a workload inside",
            reason=beyond[0],
        )
    conditions = [condition for condition in source.where if condition[0] in case]
    if conditions and not matching_rows({name: [value] for name, value in case.items()}, conditions):
        text = ",".join(f"{name}={value}" for name, value in workload.items())
        raise InputError(
            "excluded-by-filter",
            "{spell.for:{workload}} is left out by {spell.where}",
            "ask for a workload that the conditions allow",
            workload=text,
        )
    return case


def _parse_number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text

"""Which setting to choose for which workload, and what that gains where it was not learned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from iosonde.core.errors import DataError, InputError
from iosonde.core.where import matching_rows
from iosonde.core.words import counted, percent, ratio
from iosonde.data.asked import Asked
from iosonde.data.in_use import in_use
from iosonde.data.responses import Response, one_of_each, one_response
from iosonde.data.source import Source
from iosonde.explain.advise import Advice, Wish
from iosonde.explain.advise import advise as advised
from iosonde.explain.advise_trial import KEPT, LESS, MORE, UNTOLD, Tried, against
from iosonde.explain.advise_words import sentence_of
from iosonde.explain.hints import files_of
from iosonde.explain.rules import Rule
from iosonde.model.fit.features import encode, outside

from .answer import Answer, of_each
from .caveats import caveats, of_ratios, of_single_trials
from .learned import set_factors

_VERDICTS = {
    KEPT: "The advice, tried, brought what it said",
    LESS: "The advice, tried, brought less than it said",
    MORE: "The advice, tried, brought more than it said",
    UNTOLD: "Whether the advice brought what it said cannot be told",
}


@dataclass(frozen=True)
class Advising:
    """What may be chosen, and how it is judged.

    ``given`` describes a workload; None: of a store all other factors that were set, of a table nothing. ``better`` is
    ``higher`` or ``lower``, None: as of the response. ``current`` is the setting in use, by column; the gain is then
    over it. A tree asks at most ``depth`` questions; ``full``: all of them, not only those that are worth it.
    ``weigh``: instances count by what choosing wrong loses there.
    """

    choose: tuple[str, ...]
    given: tuple[str, ...] | None = None
    better: str | None = None
    current: Mapping[str, str] | None = None
    depth: int = 5
    full: bool = False
    weigh: bool = True


@dataclass(frozen=True)
class Advised(Answer):
    """``advice`` from DATA; the one workload ``case`` that was asked about, or what new trials say: ``tried``."""

    advice: Advice
    case: Mapping[str, Any] | None = None
    tried: Tried | None = None

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
            return sentence_of(self.advice)
        learned = counted(rule.instances, "instance")
        return (
            f"{rule.then} ({rule.when}): {percent(rule.share)} of the best on {learned}, worst {percent(rule.lowest)}."
        )

    def files(self, system: str, names: Mapping[str, str]) -> dict[str, str]:
        """File name → content: the rules for a file system or tool, in which columns and levels have ``names``.
        Raises InputError where nothing was advised."""
        if not self.advice.rules:
            raise InputError("nothing was advised, so there are no rules to write", "measure more; the text says what")
        return files_of(self.advice.rules, system, dict(names), self.advice.instances.settings)


@dataclass(frozen=True)
class AdvisedEach(Answer):
    """Advice on several responses of a store; ``left`` says of which there is none, and why."""

    items: tuple[Advised, ...]
    left: tuple[str, ...] = ()

    def content(self) -> dict[str, Any]:
        """As ``iosonde advise --json`` of several responses."""
        return {"advice": [one.content() for one in self.items], "left_out": list(self.left)}

    def records(self) -> list[dict[str, Any]]:
        """One row a setting of each response."""
        return [{"response": one.advice.instances.response, **row} for one in self.items for row in one.records()]

    @property
    def sentence(self) -> str:
        """What is advised on each."""
        return of_each([(one.advice.instances.response, one.sentence) for one in self.items])

    @property
    def advice(self) -> Advice:
        """Where one is needed. Raises InputError."""
        names = ", ".join(f"'{one.advice.instances.response}'" for one in self.items)
        raise InputError(f"the advice is on {len(self.items)} responses", f"name one with --response: {names}")

    def files(self, system: str, names: Mapping[str, str]) -> dict[str, str]:
        """Of one response alone: raises InputError."""
        raise AssertionError(self.advice)


def advise(
    source: Source, asked: Asked, how: Advising, workload: Mapping[str, str] | None = None, new: Source | None = None
) -> Advised | AdvisedEach:
    """Advice from the trials of DATA, of a store on every operation that is asked for; for one ``workload``, or held
    against ``new`` trials. Raises InputError, DataError."""
    if workload is not None and new is not None:
        raise InputError("--for asks for one workload, --against compares all", "give one of the two")
    if source.store is None and not asked.response:
        raise InputError("--response is missing", f"columns: {', '.join(source.table.names)}")
    made, left = list[Advised](), list[DataError]()
    for response in one_of_each(source, replace(asked, on=(*how.choose, *(how.given or ())))):
        try:
            made.append(_advised(source, response, asked, how, workload, new))
        except DataError as error:
            left.append(error)
    if not made:
        raise left[0] if left else DataError(f"{source.name} holds no rows", "give a table with measurements")
    return made[0] if len(made) == 1 and not left else AdvisedEach(tuple(made), tuple(one.message for one in left))


def _advised(
    source: Source, response: Response, asked: Asked, how: Advising, workload: Mapping[str, str] | None,
    new: Source | None,
) -> Advised:  # fmt: skip
    if not len(response.rows):
        raise DataError(f"{source.name} holds no rows", "give a table with measurements")
    named = replace(asked, response=(response.title,)) if source.store is not None else asked
    given = how.given if how.given is not None else _other_factors(source, named, response, how.choose)
    how = replace(how, given=source.apart((*how.choose, *given))[len(how.choose) :])
    current, said = in_use(source, response.rows, how.choose) if how.current is None else (how.current, "")
    made = advice_of(response, replace(how, current=current), asked.level)
    made = replace(made, warnings=(*([said] if said else []), *made.warnings))
    case = None if workload is None else _case(made, workload, source)
    if new is None:
        return Advised(made, case)
    again = one_response(new, replace(named, on=(*how.choose, *(how.given or ()))))
    return Advised(made, case, against(made, again.rows))


def advice_of(response: Response, how: Advising, level: float) -> Advice:
    """The advice of one response; without ``given`` there is one instance. Raises InputError, DataError."""
    lower = response.lower_is_better if how.better is None else how.better == "lower"
    wish = Wish(response.unit, lower, how.depth, how.full, how.weigh, how.current)
    made = advised(response.rows, response.title, how.choose, how.given or (), level, wish)
    said = (*caveats(response), *of_single_trials(response, how.choose), *of_ratios(response))
    return replace(made, warnings=(*said, *made.warnings))


def _other_factors(source: Source, asked: Asked, response: Response, choose: Sequence[str]) -> list[str]:
    """Of a store the factors that were set and are not chosen."""
    if source.store is None:
        return []
    chosen = [response.rows.column(name).name for name in choose]
    return [
        name for name in set_factors(one_response(source, replace(asked, on=())).with_scattered()) if name not in chosen
    ]


def _case(made: Advice, given: Mapping[str, str], source: Source) -> dict[str, Any]:
    """The workload that is asked about. Raises InputError for one that was never tried, or that DATA leaves out."""
    features = made.instances.features
    chosen = [name for name in given if name in made.instances.choose]
    if chosen:
        raise InputError(f"'{chosen[0]}' is chosen, not given", "--for describes the workload; --current the setting")
    numeric = {feature.name for feature in features if feature.numeric}
    case = {name: _number(value) if name in numeric else value for name, value in given.items()}
    beyond = outside(features, encode(features, case))
    if beyond:
        raise InputError(f"no advice beyond what was tried: {beyond[0]}", "measure there, or ask for a workload inside")
    conditions = [condition for condition in source.where if condition[0] in case]
    if conditions and not matching_rows({name: [value] for name, value in case.items()}, conditions):
        told = ",".join(f"{name}={value}" for name, value in given.items())
        raise InputError(f"--for {told} is left out by --where", "ask for a workload that the conditions allow")
    return case


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text

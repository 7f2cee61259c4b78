"""Do all commands give the same verdict to the same question? DATA is drawn, and every command is asked.

    nice .venv/bin/python -m truth.agreement [--only WORD,…] [--draws N]

(with PYTHONPATH=tests:python) prints, for each kind of DATA and each question, how often commands disagree, and how.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np

from .ask import answer_of
from .drawn_data import KINDS, DrawnData, draw_data, write_data
from .scores import DIFFERENT, DOWN, EQUAL, INCONCLUSIVE, UP

DRAWS = 24  # of each kind
REFUSES, SILENT = "refuses", "silent"
CLAIMS = {str(DIFFERENT), str(EQUAL)}
Verdict = Mapping[str, Any]  # its JSON form
Verdicts = Sequence[Verdict]


@dataclass(frozen=True)
class Reply:
    """What a command says of one question: a state with a direction, or that it refuses or is silent."""

    command: str
    state: str
    direction: str = ""
    p: float | None = None
    family: int = 1
    claim: str = ""

    @property
    def word(self) -> str:
        """State and direction."""
        return f"{self.state} {self.direction}".strip()

    def describe(self) -> str:
        """Return it as ``rank: different (p 0.012 of 2)``."""
        p = "" if self.p is None else f" (p {self.p:.3g} of {self.family})"
        return f"{self.command}: {self.word}{f' [{self.claim}]' if self.claim else ''}{p}"


@dataclass(frozen=True)
class Disagreement:
    """Commands that differ on ``subject``; ``is_soft``: one claims what the other leaves open."""

    kind: str
    seed: int
    question: str
    subject: str
    replies: tuple[Reply, ...]
    is_soft: bool = False

    def describe(self) -> str:
        """Return it on one line."""
        replies = "; ".join(reply.describe() for reply in self.replies)
        return f"seed {self.seed}, {self.subject}: {replies}"


@dataclass
class Respondent:
    """One DATA, and the commands' answers to it: each is asked once."""

    data: DrawnData
    path: Path
    directory: tempfile.TemporaryDirectory[str]
    answers: dict[tuple[str, str], Verdicts | None] = field(default_factory=dict)

    def ask(self, command: str, **words: Any) -> Verdicts | None:
        """Return the verdicts; None where the command refuses."""
        key = (command, repr(sorted(words.items())))
        if key not in self.answers:
            answer = answer_of(command, self.path, words)
            self.answers[key] = None if answer is None else answer.get("verdicts", [])
        return self.answers[key]


def find_reply(command: str, verdicts: Verdicts | None, factor: str, response: str) -> Reply:
    """Return what a command says of the effect of one factor, or of the block that it belongs to."""
    if verdicts is None:
        return Reply(command, REFUSES)
    concerned = [
        verdict
        for verdict in verdicts
        if verdict["question"] == "effect" and factor in verdict["subject"] and is_about(verdict["response"], response)
    ]
    if not concerned:
        return Reply(command, SILENT)
    # Its own verdict says more than that of its block.
    verdict = min(concerned, key=lambda verdict: len(verdict["subject"]))
    return build_reply(command, verdict)


def build_reply(command: str, verdict: Verdict) -> Reply:
    """Return the reply that a verdict is."""
    return Reply(
        command, verdict["state"], verdict["direction"] or "", verdict["p"], verdict["family"], verdict["claim"]
    )


def is_about(title: str, response: str) -> bool:
    """Whether a verdict's response is the one that was asked for: ``write`` is ``write bandwidth_last_done``."""
    return title == response or set(response.split()) <= set(title.replace("_", " ").split())


def list_disagreements(data: DrawnData, question: str, subject: str, replies: Sequence[Reply]) -> list[Disagreement]:
    """Return the disagreement of these replies, if they do. A command that refuses the question says nothing."""
    answers = [reply for reply in replies if reply.state != REFUSES]
    if len({reply.word for reply in answers}) < 2:
        return []
    return [Disagreement(data.kind, data.seed, question, subject, tuple(replies))]


# The questions


def ask_effect(respondent: Respondent, command: str, factor: str, response: str, by: str = "") -> Reply:
    """Ask for the effect of a factor among all, or of ``by`` alone. The page of a store is of all responses."""
    words: dict[str, Any] = {} if command == "report" and respondent.data.write else {"response": response}
    if by:
        words["by" if command in ("summary", "report") else "on"] = by
    return find_reply(command, respondent.ask(command, **words), factor, response)


def compare_defaults(respondent: Respondent) -> Iterator[Disagreement]:
    """Does each factor matter? Asked without naming one."""
    data = respondent.data
    for response, factor in product(data.responses, data.factors):
        commands = ("summary", "plot", "report", "rank", "anova")
        replies = [ask_effect(respondent, command, factor, response) for command in commands]
        yield from list_disagreements(data, "default", f"{factor} on {response}", replies)


def compare_named(respondent: Respondent) -> Iterator[Disagreement]:
    """Does this factor matter? Asked of one alone."""
    data = respondent.data
    for response, factor in product(data.responses, data.factors):
        commands = ("summary", "report", "rank", "anova")
        replies = [ask_effect(respondent, command, factor, response, factor) for command in commands]
        yield from list_disagreements(data, "named", f"{factor} on {response}", replies)


def find_differences(respondent: Respondent, response: str) -> list[Reply]:
    """Return what ``compare`` says of the two sides, in each cell; the direction is the greater level."""
    data = respondent.data
    verdicts = respondent.ask("compare", group=data.sides, response=response)
    if verdicts is None:
        return [Reply("compare", REFUSES)]
    return [
        replace(build_reply("compare", verdict), direction=find_greater_side(verdict))
        for verdict in verdicts
        if verdict["question"] == "difference" and is_about(verdict["response"], response)
    ] or [Reply("compare", SILENT)]


def find_greater_side(verdict: Verdict) -> str:
    """Return the level with the greater values; '' without a direction. In a store the subjects are ``a=x``."""
    if verdict["direction"] is None:
        return ""
    side = verdict["subject"][1 if verdict["direction"] == UP else 0]
    return str(side).partition("=")[2] or str(side)


def find_slope(respondent: Respondent, response: str) -> Reply:
    """Return what a line says of the two sides; the direction is the greater level."""
    data = respondent.data
    verdicts = respondent.ask("regress", on=data.sides, response=response)
    if verdicts is None:
        return Reply("regress", REFUSES)
    levels = sorted(set(np.asarray(data.columns[data.sides]).tolist()))
    for verdict in verdicts:
        name, _, level = verdict["subject"][0].rstrip("]").partition("[")
        if verdict["question"] == "slope" and name == data.sides:
            upper = level or str(levels[1])
            greater = next(str(each) for each in levels if (str(each) == upper) is (verdict["direction"] == UP))
            return replace(build_reply("regress", verdict), direction=greater if verdict["direction"] else "")
    return Reply("regress", SILENT)


def compare_sides(respondent: Respondent) -> Iterator[Disagreement]:
    """Do the only two levels differ, and which is the greater one?"""
    data = respondent.data
    if not data.is_alone:
        return
    for response in data.responses:
        sides = [*find_differences(respondent, response), find_slope(respondent, response)]
        named = [
            ask_effect(respondent, name, data.sides, response, data.sides) for name in ("summary", "rank", "anova")
        ]
        states = [replace(reply, direction="") for reply in (*sides, *named)]
        subject = f"{data.sides} on {response}"
        if found := list_disagreements(data, "sides", subject, states):
            yield from found
        elif len({reply.direction for reply in sides if reply.direction}) > 1:
            yield Disagreement(data.kind, data.seed, "sides", subject, tuple(sides))


def compare_within_cells(respondent: Respondent) -> Iterator[Disagreement]:
    """Do the two levels differ, the other settings held? No claim may deny another; claims that others leave open are
    counted."""
    data = respondent.data
    if not data.sides or data.is_alone:
        return
    for response in data.responses:
        sides = find_differences(respondent, response)
        others = [ask_effect(respondent, command, data.sides, response) for command in ("summary", "rank", "anova")]
        states = {reply.state for reply in (*sides, *others)}
        subject = f"{data.sides} on {response}"
        opposite = len(sides) == 1 and len({reply.direction for reply in sides if reply.direction}) > 1
        if states >= CLAIMS or opposite:
            yield Disagreement(data.kind, data.seed, "cells", subject, (*sides, *others))
        elif states >= {str(DIFFERENT), str(INCONCLUSIVE)}:
            yield Disagreement(data.kind, data.seed, "cells", subject, (*sides, *others), is_soft=True)


def compare_gate(respondent: Respondent) -> Iterator[Disagreement]:
    """A gate at 0 % fails where ``compare`` says that B is more. It may also fail by less than the margin of equal."""
    data = respondent.data
    if not data.is_alone:
        return
    for response, (word, direction) in product(data.responses, (("more", UP), ("less", DOWN))):
        verdicts = respondent.ask("gate", group=data.sides, response=response, fail_if=f"{word}>0%") or ()
        sides = [verdict for verdict in verdicts if verdict["question"] == "difference"]
        fails = any(verdict["question"] == "gate" and verdict["state"] == DIFFERENT for verdict in verdicts)
        claimed = any(verdict["state"] == DIFFERENT and verdict["direction"] == direction for verdict in sides)
        allowed = claimed or any(verdict["state"] == EQUAL for verdict in sides)
        if (claimed and not fails) or (fails and not allowed):
            replies = [build_reply(f"{verdict['question']} {word}", verdict) for verdict in verdicts]
            yield Disagreement(data.kind, data.seed, "gate", f"{data.sides} on {response}", tuple(replies))


def list_best_claims(respondent: Respondent, response: str) -> Iterator[Reply]:
    """Yield who names a best setting as better than others, for all workloads."""
    data = respondent.data
    for command in ("summary", "plot", "report"):
        words: dict[str, Any] = {} if command == "report" and data.write else {"response": response}
        for verdict in respondent.ask(command, **words) or ():
            if verdict["question"] == "best" and is_about(verdict["response"], response):
                yield build_reply(command, verdict)
    for factor in data.factors:
        others = tuple(other for other in data.factors if other != factor)
        for given in {(), others}:
            words = {"response": response, "choose": factor, **({"given": given} if given else {})}
            for verdict in respondent.ask("advise", **words) or ():
                yield replace(build_reply(f"advise {factor}", verdict), claim=f"{factor}={verdict['claim']}")


def compare_best(respondent: Respondent) -> Iterator[Disagreement]:
    """Which setting is best? Who names a best setting may not name another one."""
    data = respondent.data
    for response in data.responses:
        claims = [
            reply
            for reply in list_best_claims(respondent, response)
            if reply.state == DIFFERENT and "; " not in reply.claim
        ]
        parts = {part for reply in claims for part in reply.claim.split(", ")}
        for factor in data.factors:
            if len({part for part in parts if part.startswith(f"{factor}=")}) > 1:
                yield Disagreement(data.kind, data.seed, "best", f"{factor} for {response}", tuple(claims))


def compare_selections(respondent: Respondent) -> Iterator[Disagreement]:
    """Does the verdict on one response depend on what else is shown? Only by the size of its family may it."""
    data = respondent.data
    for response, factor in product(data.responses, data.factors):
        # The page costs as much as ten others.
        page = ["report"] if data.write or len(data.responses) > 1 else []
        for command in ("summary", "plot", "rank", *page):
            replies = []
            for name, words in list_selections(data, command, response):
                reply = find_reply(f"{command}{name}", respondent.ask(command, **words), factor, response)
                replies.append(reply)
            subject = f"{factor} on {response}"
            if any(not is_same_but_family(*pair) for pair in combinations(replies, 2)):
                yield Disagreement(data.kind, data.seed, "selection", subject, tuple(replies))


def list_selections(data: DrawnData, command: str, response: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield ways to show a response, alone and with others."""
    yield "", {}
    yield " --response one", {"response": response}
    if len(data.responses) > 1:
        yield " --response all", {"response": data.responses}
    if data.write:
        metrics = sorted({name.split()[1] for name in data.columns if len(name.split()) == 2}) or ["bandwidth"]
        yield " --metric one", {"metric": next((name for name in metrics if name in response), metrics[0])}
        yield " --metric all", {"metric": tuple(metrics)}


def is_same_but_family(one: Reply, other: Reply) -> bool:
    """Whether the two say the same, or more tests only made one more careful; a refusal says nothing."""
    if REFUSES in (one.state, other.state) or one.word == other.word:
        return True
    narrow, wide = sorted((one, other), key=lambda reply: reply.family)
    return narrow.family < wide.family and (narrow.state, wide.state) == (DIFFERENT, INCONCLUSIVE)


QUESTIONS = {
    "default": compare_defaults,
    "named": compare_named,
    "sides": compare_sides,
    "cells": compare_within_cells,
    "gate": compare_gate,
    "best": compare_best,
    "selection": compare_selections,
}


@dataclass(frozen=True)
class Findings:
    """Where commands disagree about one DATA, and how often each refused a question."""

    disagreements: tuple[Disagreement, ...]
    refusals: Counter[str]


@lru_cache(maxsize=2 * DRAWS)
def get_respondent(kind: str, seed: int) -> Respondent:
    """Draw one DATA and write it; what was asked of it is kept with it."""
    data = draw_data(kind, seed)
    directory = tempfile.TemporaryDirectory(prefix="iosonde-truth-")
    return Respondent(data, write_data(data, Path(directory.name)), directory)


def find_disagreements(kind: str, seed: int, question: str) -> list[Disagreement]:
    """Ask one question about one DATA, and return where commands disagree."""
    return list(QUESTIONS[question](get_respondent(kind, seed)))


def question_all(kind: str, seed: int) -> Findings:
    """Ask all questions about one DATA."""
    disagreements = tuple(one for question in QUESTIONS for one in find_disagreements(kind, seed, question))
    answers = get_respondent(kind, seed).answers
    return Findings(disagreements, Counter(command for (command, _), verdicts in answers.items() if verdicts is None))


def count_patterns(disagreements: Iterable[Disagreement]) -> Counter[str]:
    """Count each way to disagree: ``summary, rank: different; anova: inconclusive``."""
    patterns = Counter[str]()
    for one in disagreements:
        groups: dict[str, list[str]] = {}
        for reply in one.replies:
            groups.setdefault(reply.word if one.question != "best" else reply.claim, []).append(reply.command)
        patterns["; ".join(f"{', '.join(dict.fromkeys(who))}: {word}" for word, who in groups.items())] += 1
    return patterns


def describe_kind(kind: str, disagreements: Sequence[Disagreement], draws: int) -> Iterator[str]:
    """The table of one kind: for each question, in how many draws commands disagree and how."""
    for question in QUESTIONS:
        concerned = [one for one in disagreements if one.question == question]
        hard, soft = [one for one in concerned if not one.is_soft], [one for one in concerned if one.is_soft]
        for name, some in ((question, hard), (f"{question}, open", soft)):
            if not some:
                continue
            seeds = len({one.seed for one in some})
            yield f"| {kind} | {name} | {seeds} of {draws} |"
            for pattern, count in count_patterns(some).most_common(6):
                yield f"|  | {count} × | {pattern} |"
            yield f"|  | e.g. | {some[0].describe()} |"


def main(words: Sequence[str] | None = None) -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--only", default="", metavar="WORD,…", help="kinds whose name holds a word")
    options.add_argument("--draws", type=int, default=DRAWS, metavar="N", help="of each kind")
    options.add_argument("--workers", type=int, default=1, metavar="N")
    asked = options.parse_args(words)
    chosen = [word for word in asked.only.split(",") if word]
    kinds = [kind for kind in KINDS if not chosen or any(word in kind for word in chosen)]
    jobs = [(kind, seed) for kind in kinds for seed in range(asked.draws)]
    begin = time.perf_counter()
    print("| kind | question | draws with a disagreement |\n|---|---|---|")
    with ProcessPoolExecutor(asked.workers) as pool:
        found = dict(zip(jobs, pool.map(question_all, *zip(*jobs, strict=True), chunksize=8), strict=True))
    for kind in kinds:
        of_kind = [findings for (name, _), findings in found.items() if name == kind]
        some = [one for findings in of_kind for one in findings.disagreements]
        print("\n".join(describe_kind(kind, some, asked.draws)) or f"| {kind} | all | none of {asked.draws} |")
        if refusals := sum((findings.refusals for findings in of_kind), Counter[str]()):
            print(f"|  | refusals | {', '.join(f'{name} {count}' for name, count in refusals.items())} |")
    print(f"\n{len(jobs)} drawn, {time.perf_counter() - begin:.0f} s, {sum(os.times()[:4]):.0f} s of CPU")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The same traps, and coarse clocks, asked of the commands that ``traps`` does not ask about them."""

from __future__ import annotations

from . import trap_tables as tables
from .ask import Question, question
from .scores import DIFFERENT, DOWN, EQUAL, INCONCLUSIVE, NOT_SEPARABLE, NOT_TESTED, UP, Truth, truth

SIDES = {"group": "v", "levels": ["A", "B"]}
IN_ORDER = ("order", "drift", "dependent")
Traps = list[tuple[str, str, tuple[Question, ...]]]


def none(kind: str, *faults: str, subject: tuple[str, ...] = ()) -> Truth:
    """There is no effect, or none that these data show; who claims one accuses the wrong cause."""
    return truth(kind, EQUAL, INCONCLUSIVE, faults=faults, accuses=True, subject=subject)


def of_factor(response: str, name: str, *faults: str, without: str = "") -> tuple[Question, ...]:
    """Every command that says whether one factor matters, or which of its levels is best: it does not."""
    effect, best = none("effect", *faults, subject=(name,)), none("best", *faults)
    asked = (
        question("summary", effect, best, response=response, by=name),
        question("rank", effect, response=response, on=name),
        question("plot", effect, best, response=response),
        question("report", effect, best, response=response, by=name),
        question("anova", effect, response=response, on=name),
        question("regress", none("slope", *faults), response=response, on=name),
        question("advise", best, response=response, choose=name),
        question("fit", none("model", *faults), response=response, on=name),
    )
    return tuple(one for one in asked if one.command not in without.split())


def coarse_clock(response: str, *faults: str) -> tuple[Question, ...]:
    """Every command, about the only factor ``v``."""
    return (
        question("compare", none("difference", *faults), **SIDES, response=response),
        question("gate", none("gate", *faults), **SIDES, response=response, fail_if="more>5%"),
        *of_factor(response, "v", *faults),
    )


def _of_people() -> Traps:
    lord = ("varies-besides", "goes-together")
    fast = ("missing-values",)
    first = truth("best", DIFFERENT, claim=("A",), faults=fast, accuses=True)
    curse = none("best")
    nodes = [f"n{number:02}" for number in range(40)]
    return [
        (
            "lord",
            tables.lord(),
            (
                question(
                    "gate", none("gate", *lord), group="g", levels=["a", "b"], response="after", fail_if="more>1%"
                ),
                *of_factor("after", "g", *lord, without="plot regress"),
            ),
        ),
        (
            "survivorship",
            tables.survivorship(),
            (
                question("gate", none("gate", *fast), **SIDES, response="time_s", fail_if="less>3%"),
                question("plot", first, response="time_s"),
                question("report", first, response="time_s", by="v"),
                question("advise", first, response="time_s", choose="v"),
                question(
                    "regress",
                    truth("slope", DIFFERENT, direction=UP, faults=fast, accuses=True),
                    response="time_s",
                    on="v",
                ),
            ),
        ),
        (
            "regression to the mean",
            tables.remeasured(),
            (
                question(
                    "gate",
                    none("gate", "selected"),
                    group="round",
                    levels=["1", "2"],
                    response="y",
                    pair="node",
                    fail_if="more>1%",
                ),
            ),
        ),
        (
            "winner's curse",
            tables.alike_nodes(),
            (
                question("plot", curse, response="y"),
                question("report", curse, response="y", by="node"),
                question("compare", none("difference"), group="node", levels=nodes, base_only=True, response="y"),
                question("regress", none("slope"), response="y", on="node"),
                question("fit", none("model"), response="y", on="node"),
            ),
        ),
    ]


def _of_time() -> Traps:
    """Drift and warm-up, of the commands that name a best setting or a model."""
    drifts = [
        (name, text, of_factor("y", "v", *IN_ORDER, without="regress fit"))
        for name, text in (("drift with times", tables.drift(True)), ("drift by rows", tables.drift(False)))
    ]
    return [*drifts, ("warm-up", tables.warm_up(), of_factor("y", "v", *IN_ORDER, without="fit regress"))]


def _of_units() -> Traps:
    mixed = ("impossible",)
    untested = truth("effect", NOT_TESTED, denials=[INCONCLUSIVE, EQUAL])
    sized = {"response": "KiBps", "choose": "size"}
    clocks = tables.coarse_clock()
    return [
        (
            "mixed units",
            tables.mixed_units(),
            (
                question("gate", none("gate", *mixed), **SIDES, response="MBps", fail_if="more>5%"),
                *of_factor("MBps", "v", *mixed, without="summary"),
            ),
        ),
        ("ranks taken for trials", tables.ranks_as_trials(True), of_factor("y", "v", "subsamples")),
        (
            "one trial a setting",
            tables.one_trial_each(),
            (
                question("plot", untested, response="KiBps"),
                question("anova", untested, response="KiBps", on=("size", "sync")),
                question("advise", truth("best", NOT_TESTED, INCONCLUSIVE), **sized),
                question("fit", truth("model", NOT_TESTED, INCONCLUSIVE, optional=True), response="KiBps", on="size"),
            ),
        ),
        ("ticks of the whole difference", clocks, coarse_clock("time_s", "coarse-clock")),
        (
            "cache cliff",
            tables.cliff_by_size(),
            (
                question("rank", truth("effect", DIFFERENT, denials=[EQUAL]), response="MBps", on="file_mb"),
                question("anova", truth("effect", DIFFERENT, denials=[EQUAL]), response="MBps", on="file_mb"),
                question("summary", truth("effect", DIFFERENT, denials=[EQUAL]), response="MBps", by="file_mb"),
                question("plot", truth("effect", DIFFERENT, denials=[EQUAL]), response="MBps"),
                question("report", truth("effect", DIFFERENT, denials=[EQUAL]), response="MBps", by="file_mb"),
                question("scale", truth("limit", DIFFERENT, denials=[EQUAL]), response="MBps", on="file_mb"),
            ),
        ),
    ]


def _of_columns() -> Traps:
    """Simpson's table, and hosts that go with file systems."""
    besides = ("varies-besides",)
    best = truth("best", DIFFERENT, claim=("A", "fs=A"), faults=besides, accuses=True)
    host = truth("best", NOT_SEPARABLE, INCONCLUSIVE, faults=["goes-together"], accuses=True)
    sides = {"group": "fs", "levels": ["A", "B"], "response": "MBps"}
    return [
        (
            "simpson",
            tables.simpson(),
            (
                question("plot", best, response="MBps"),
                question("report", best, response="MBps", by="fs"),
                question("gate", truth("gate", DIFFERENT, denials=[EQUAL]), **sides, fail_if="less>5%"),
            ),
        ),
        (
            "simpson, seen as more",
            tables.simpson(),
            (
                question("gate", none("gate"), **sides, fail_if="more>5%"),
                question(
                    "compare", truth("difference", DIFFERENT, direction=DOWN, faults=besides), **sides, adjust="none"
                ),
            ),
        ),
        (
            "host goes with fs",
            tables.host_goes_with_fs(),
            (
                question(
                    "gate",
                    truth("gate", NOT_SEPARABLE, INCONCLUSIVE, faults=["goes-together"], accuses=True),
                    group="fs",
                    levels=["nfs", "ceph"],
                    response="MBps",
                    fail_if="more>5%",
                ),
                question("advise", host, response="MBps", choose="fs"),
                question(
                    "fit",
                    truth("model", DIFFERENT, INCONCLUSIVE, NOT_SEPARABLE, faults=["goes-together"]),
                    response="MBps",
                    on="fs",
                ),
            ),
        ),
    ]


def more_traps() -> Traps:
    """(name, table, questions) of every trap here."""
    return [*_of_people(), *_of_time(), *_of_units(), *_of_columns()]

"""What is true of each trap, and what must not be said of it."""

from __future__ import annotations

from dataclasses import dataclass

from . import trap_tables as tables
from .ask import Question, question
from .scores import DIFFERENT, DOWN, EQUAL, INCONCLUSIVE, NOT_SEPARABLE, NOT_TESTED, UP, Truth, truth
from .traps_everywhere import more_traps


@dataclass(frozen=True)
class Trap:
    """A table, as the text of a CSV, and questions about it."""

    name: str
    csv: str
    questions: tuple[Question, ...]


def no_effect(kind: str, *faults: str, accuses: bool = False, subject: tuple[str, ...] = ()) -> Truth:
    """There is none, or none that these data show."""
    return truth(kind, EQUAL, INCONCLUSIVE, faults=faults, accuses=accuses, subject=subject)


def together(*block: str) -> Truth:
    """Factors that the data cannot tell apart, and whose common effect they show beyond doubt."""
    return truth(
        "effect",
        DIFFERENT,
        NOT_SEPARABLE,
        subject=block,
        block=block,
        faults=["goes-together"],
        denials=[INCONCLUSIVE, EQUAL],
        accuses=True,
    )


def on_factors(response: str, names: tuple[str, ...], *truths: Truth) -> tuple[Question, ...]:
    """The commands that say which factor matters."""
    return (
        question("summary", *truths, response=response, by=names),
        question("rank", *truths, response=response, on=names),
        question("plot", *truths, response=response),
        question("report", *truths, response=response, by=names),
    )


def of_one_factor(response: str, name: str, *truths: Truth) -> tuple[Question, ...]:
    """As ``on_factors``, and the analysis of variance."""
    return (*on_factors(response, (name,), *truths), question("anova", *truths, response=response, on=name))


IN_ORDER = ("order", "drift", "dependent")


def _plain() -> list[Trap]:
    """No traps: two sides that are alike, and a factor of two, which nothing may deny."""
    words = {"group": "v", "levels": ["A", "B"], "response": "MBps"}
    alike = truth("difference", EQUAL, denials=[INCONCLUSIVE])
    twice = {
        kind: truth(kind, DIFFERENT, direction=UP, denials=[INCONCLUSIVE, EQUAL]) for kind in ("difference", "slope")
    }
    factor = truth("effect", DIFFERENT, subject=("v",), denials=[INCONCLUSIVE, EQUAL])
    best = truth("best", DIFFERENT, claim=("B",), denials=[INCONCLUSIVE, EQUAL])
    model = truth("model", DIFFERENT, denials=[INCONCLUSIVE, EQUAL])
    fails = truth("gate", DIFFERENT, denials=[INCONCLUSIVE, EQUAL])
    return [
        Trap(
            "two sides alike",
            tables.plain(1.0),
            (
                question("compare", alike, **words),
                question("gate", truth("gate", EQUAL, denials=[INCONCLUSIVE]), **words, fail_if="more>3%"),
            ),
        ),
        Trap(
            "a factor of two",
            tables.plain(2.0),
            (
                question("compare", twice["difference"], **words),
                question("gate", fails, **words, fail_if="more>3%"),
                question("summary", factor, best, response="MBps", by=("v", "size")),
                question("rank", factor, response="MBps", on=("v", "size")),
                question("plot", factor, response="MBps"),
                question("report", factor, response="MBps", by=("v", "size")),
                question("anova", factor, response="MBps", on=("v", "size")),
                question("regress", twice["slope"], response="MBps", on="v"),
                question("fit", model, response="MBps", on=("v", "size")),
                question("advise", best, response="MBps", choose="v", given="size"),
            ),
        ),
    ]


def _simpson() -> Trap:
    faster = truth("effect", DIFFERENT, subject=("fs",), direction=DOWN, faults=["varies-besides"])
    slope = truth("slope", DIFFERENT, direction=DOWN, faults=["varies-besides"])
    best = truth("best", DIFFERENT, claim=("A", "fs=A"), faults=["varies-besides"], accuses=True)
    return Trap(
        "simpson",
        tables.simpson(),
        (
            question(
                "compare",
                truth("difference", DIFFERENT, direction=DOWN, denials=[EQUAL]),
                group="fs",
                levels=["A", "B"],
                response="MBps",
            ),
            question("summary", best, faster, response="MBps", by="fs"),
            question("summary", truth("best", DIFFERENT, claim=("A",), accuses=True), response="MBps"),
            question("rank", faster, response="MBps", on="fs"),
            question("anova", faster, response="MBps", on="fs"),
            question("regress", slope, response="MBps", on="fs"),
            question("advise", best, response="MBps", choose="fs"),
            question(
                "advise",
                truth("best", DIFFERENT, claim=("A",), accuses=True),
                response="MBps",
                choose="fs",
                given="size",
            ),
        ),
    )


def _anscombe() -> list[Trap]:
    slope = {
        1: truth("slope", DIFFERENT, direction=UP, denials=[INCONCLUSIVE, EQUAL]),
        2: truth("slope", INCONCLUSIVE, faults=["lack-of-fit", "leverage"]),
        3: truth("slope", INCONCLUSIVE, faults=["lack-of-fit", "leverage"]),
        4: truth("slope", INCONCLUSIVE, NOT_TESTED, faults=["leverage"]),
    }
    return [
        Trap(f"anscombe-{number}", tables.anscombe(number), (question("regress", one, response="y", on="x"),))
        for number, one in slope.items()
    ]


def _of_people() -> list[Trap]:
    """Traps of who is compared with whom."""
    covariate = no_effect("difference", "varies-besides", "goes-together", accuses=True)
    slower = truth("difference", DIFFERENT, direction=UP, faults=["missing-values"])
    first = truth("best", DIFFERENT, claim=("A",), faults=["missing-values"], accuses=True)
    alike = no_effect("effect", subject=("node",))
    return [
        Trap(
            "lord",
            tables.lord(),
            (
                question("compare", covariate, group="g", levels=["a", "b"], response="after"),
                question("regress", no_effect("slope", subject=("g[b]", "g")), response="after", on=("before", "g")),
            ),
        ),
        Trap(
            "survivorship",
            tables.survivorship(),
            (
                question("compare", slower, group="v", levels=["A", "B"], response="time_s"),
                question("summary", first, response="time_s", by="v"),
            ),
        ),
        Trap(
            "regression to the mean",
            tables.remeasured(),
            (
                question(
                    "compare",
                    no_effect("difference", "selected"),
                    group="round",
                    levels=["1", "2"],
                    response="y",
                    pair="node",
                ),
            ),
        ),
        Trap(
            "winner's curse",
            tables.alike_nodes(),
            (
                question("summary", no_effect("best"), alike, response="y", by="node"),
                question("rank", alike, response="y", on="node"),
                question("anova", alike, response="y", on="node"),
                question("advise", no_effect("best"), response="y", choose="node"),
            ),
        ),
    ]


def _of_time() -> list[Trap]:
    """Traps of the order in which was measured."""
    words = {"group": "v", "levels": ["A", "B"], "response": "y"}
    change = no_effect("difference", *IN_ORDER, accuses=True)
    factor = no_effect("effect", *IN_ORDER, accuses=True)
    return [
        Trap(
            name,
            text,
            (
                question("compare", change, **words),
                question("gate", no_effect("gate", *IN_ORDER, accuses=True), **words, fail_if="less>1%"),
                question("regress", no_effect("slope", *IN_ORDER, accuses=True), response="y", on="v"),
                *(of_one_factor("y", "v", factor) if name != "warm-up" else ()),
            ),
        )
        for name, text in (
            ("drift with times", tables.drift(True)),
            ("drift by rows", tables.drift(False)),
            ("warm-up", tables.warm_up()),
        )
    ]


def _of_units() -> list[Trap]:
    """Traps of what a row and a cell are."""
    clients = truth("effect", response="clients", absent=True)
    words = {"group": "v", "levels": ["A", "B"], "response": "y"}
    sizes = no_effect("slope", "lack-of-fit")
    return [
        Trap(
            "mixed units",
            tables.mixed_units(),
            (
                question(
                    "compare", no_effect("difference", "impossible"), group="v", levels=["A", "B"], response="MBps"
                ),
                question("summary", no_effect("effect", "impossible"), response="MBps", by="v"),
            ),
        ),
        Trap("rates as text", tables.rates_as_text(), (question("summary", clients),)),
        Trap(
            "ranks taken for trials",
            tables.ranks_as_trials(True),
            (
                question("compare", no_effect("difference", "subsamples"), **words),
                question("gate", no_effect("gate", "subsamples"), **words, fail_if="more>1%"),
                *of_one_factor("y", "v", no_effect("effect", "subsamples", subject=("v",))),
            ),
        ),
        Trap(
            "ranks without their trials",
            tables.ranks_as_trials(False),
            (question("compare", no_effect("difference", "subsamples", "dependent"), **words),),
        ),
        Trap("cache cliff", tables.cliff_by_size(), (question("regress", sizes, response="MBps", on="file_mb"),)),
        Trap(
            "one trial a setting",
            tables.one_trial_each(),
            tuple(
                question(command, truth("effect", NOT_TESTED, denials=[INCONCLUSIVE, EQUAL]), **words)
                for command, words in (
                    ("summary", {"response": "KiBps", "by": ("size", "sync")}),
                    ("rank", {"response": "KiBps", "on": ("size", "sync")}),
                    ("report", {"response": "KiBps", "by": ("size", "sync")}),
                )
            ),
        ),
    ]


def _of_columns() -> list[Trap]:
    """Traps of columns that go together."""
    host = truth("difference", NOT_SEPARABLE, faults=["goes-together"], denials=[EQUAL, INCONCLUSIVE], accuses=True)
    alone = truth("effect", NOT_SEPARABLE, faults=["goes-together"], accuses=True)
    slopes = truth("slope", NOT_SEPARABLE, faults=["goes-together"], denials=[EQUAL, INCONCLUSIVE], accuses=True)
    lab = ("replica", "client_io_threads")
    received = truth("effect", subject=("received (bytes)", "received"), absent=True)
    faster = truth("difference", DIFFERENT, direction=UP, denials=[INCONCLUSIVE, EQUAL])
    block = truth("effect", DIFFERENT, subject=("block",), denials=[INCONCLUSIVE, EQUAL])
    clients = truth("effect", DIFFERENT, subject=("clients",), denials=[EQUAL])
    nested = truth("effect", DIFFERENT, NOT_SEPARABLE, subject=("fs",), denials=[INCONCLUSIVE, EQUAL])
    ior = ("t", "transfer_size", "aggregate_size")
    return [
        Trap(
            "host goes with fs",
            tables.host_goes_with_fs(),
            (
                question("compare", host, group="fs", levels=["nfs", "ceph"], response="MBps"),
                *on_factors("MBps", ("fs", "host"), together("fs", "host")),
                question("regress", slopes, response="MBps", on="fs"),
                question("anova", alone, response="MBps", on="fs"),
            ),
        ),
        Trap(
            "copies go with an option",
            tables.copies_go_with_option(),
            (
                question("compare", host, group="client_io_threads", levels=["on", "off"], response="MBps"),
                *on_factors("MBps", lab, together(*lab)),
            ),
        ),
        Trap(
            "outcome among the factors",
            tables.outcome_among_factors(),
            (
                question("compare", faster, group="cache", levels=["off", "on"], response="write"),
                question("rank", block, received, response="write"),
                question("summary", received),
                question("plot", received),
            ),
        ),
        Trap("aliased", tables.aliased(), on_factors("mbs", ("device", "setup"), together("device", "setup"))),
        Trap(
            "aliased beside clients",
            tables.aliased_beside_clients(),
            on_factors("mbs", ("device", "pool", "clients"), together("device", "pool"), clients),
        ),
        Trap(
            "nearly aliased",
            tables.aliased_beside_clients(2),
            on_factors(
                "mbs",
                ("device", "pool", "clients"),
                truth("effect", DIFFERENT, NOT_SEPARABLE, subject=("device",), denials=[INCONCLUSIVE, EQUAL]),
            ),
        ),
        Trap("nested", tables.nested(), on_factors("y", ("fs", "version"), nested)),
        Trap(
            "collinear",
            tables.collinear(),
            (
                *on_factors("seconds", ("blocks", "amount_bytes"), together("blocks", "amount_bytes")),
                question("regress", slopes, response="seconds", on=("blocks", "amount_bytes")),
            ),
        ),
        Trap("one setting in several columns", tables.ior_settings(), on_factors("write_mbs", ior, together(*ior))),
    ]


def _of_growth() -> list[Trap]:
    """Curves that have a limit, of which some look straight."""
    limited = truth("limit", DIFFERENT, denials=[EQUAL])
    curves = {
        "saturated, 4 sizes": tables.growth((100, 190, 195, 196)),
        "flat, 4 sizes": tables.growth((100, 100, 100, 101)),
        "a fall at 8 nodes": tables.growth((100, 200, 400, 240), 6),
        "a wiggle of its own": tables.growth((100, 180, 260, 300), 6),
        "retrograde, one trial": tables.growth((98, 213, 369, 603, 665, 566)),
        "power 0.7": tables.growth((100, 162, 264, 429), 3),
    }
    straight = truth("limit", EQUAL, INCONCLUSIVE)
    asked = [(name, text, limited) for name, text in curves.items()]
    asked.append(("straight, 5 sizes", tables.growth((100, 200, 400, 800, 1600), 4), straight))
    return [Trap(name, text, (question("scale", true, on="nodes", response="MBps"),)) for name, text, true in asked]


def all_traps() -> list[Trap]:
    """Every trap."""
    groups = (_plain(), [_simpson()], _anscombe(), _of_people(), _of_time(), _of_units(), _of_columns(), _of_growth())
    return [*(trap for group in groups for trap in group), *(Trap(*trap) for trap in more_traps())]

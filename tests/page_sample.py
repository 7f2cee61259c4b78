"""A realistic page from made-up numbers: eight metrics, 1 to 8 nodes, and names that try to break out of it."""

from __future__ import annotations

import dataclasses

import numpy as np

from iosonde.commands.advise.content import AdviceDefault, AdviceRule, Compared, ResponseAdvice
from iosonde.commands.bound.content import Bound, BoundShare, Roofline, WaterfallBars
from iosonde.commands.plot.content import Bars, Cell, Latency, LatencySeries, RankSpan, Timeline
from iosonde.commands.regress.content import (
    CoefficientRow,
    ModelPlots,
    ResponseRegression,
    ResponseSummary,
    SummaryRow,
    VariationRow,
)
from iosonde.commands.report.content import Page
from iosonde.core.types import Estimate, Finding, Severity
from iosonde.model.bound.roofline import RooflineMark
from iosonde.page.tables import DataTable, FactGroup, FirstScreen, Reproduce, Section
from plot_sample import sample_plot

MiB = 2**20
HOSTILE = "</script><img src=x onerror=alert(1)>$$x^2$$\x1b[31m"
OPERATIONS = [
    ("write_large", "Write, large files", "bytes/s", 420 * MiB, "open, fsync, close"),
    ("read_1to1_large", "Read 1-to-1, large files", "bytes/s", 610 * MiB, "open, close"),
    ("read_nto1_large", "Read N-to-1, large files", "bytes/s", 730 * MiB, "open, close"),
    ("write_shared_segmented", "Write shared, segmented", "bytes/s", 380 * MiB, "open, fsync, close"),
    ("write_shared_strided", "Write shared, strided", "bytes/s", 150 * MiB, "open, fsync, close"),
    ("create", "Create", "operations/s", 1850.0, "close"),
    ("open", "Open", "operations/s", 9400.0, "close"),
    ("write_small", "Write, small files", "operations/s", 610.0, "create, fsync, close"),
    ("read_1to1_small", "Read 1-to-1, small files", "operations/s", 4100.0, "open, close"),
    ("read_nto1_small", "Read N-to-1, small files", "operations/s", 5200.0, "open, close"),
]


def estimate(values: np.ndarray, level: float = 0.95) -> Estimate:
    half = 2.57 * values.std(ddof=1) / len(values) ** 0.5
    mean = float(values.mean())
    return Estimate(mean, mean - half, mean + half, level, len(values))


def sample_page(counts: tuple[int, ...] = (1, 2), ranks: int = 8) -> Page:
    random = np.random.default_rng(7)
    bars = tuple(_bars(random, counts, *row) for row in OPERATIONS)
    return Page(
        title="iosonde report: /mnt/scratch",
        target="/mnt/scratch",
        measured="2026-11-21 10:04 to 10:21 UTC",
        level=0.95,
        answers=FirstScreen(
            headline="/mnt/scratch writes 782 MiB/s and reads 1.11 GiB/s from 2 nodes",
            what=(
                "The MTC envelope on ext4 (/dev/vda), 1 and 2 nodes with 4 ranks each.",
                "12 trials in a randomised order, seed 42, in 17 min.",
            ),
            fast="Until the last rank is done; large files 64 MiB in 1 MiB records, small files 4 KiB.",
            sure=("95 % intervals of the mean over 6 trials a setting.",),
            wrong="2 warnings and 1 note. The read figures may come from the cache.",
            sentence="Half of them are within ± 3.1 %; the widest is Create at 2 nodes, ± 14 %.",
        ),
        findings=(
            Finding(
                "S104",
                Severity.WARNING,
                "Read 1-to-1 at 1 node is faster than the device can be: cache may have served this.",
                {"rate (bytes/s)": 6.4e8, "device (bytes/s)": 5e8},
                "Use files larger than the memory of a node, or --drop-caches with a hook.",
            ),
            Finding(
                "S106",
                Severity.WARNING,
                "Create varies by 21 % between trials at 2 nodes.",
                {"cv": 0.21},
                "Look for other load; add repetitions: --until 'ci<5%'.",
            ),
            Finding(
                "S110", Severity.INFO, f"Rank 3 on {HOSTILE} started late.", {"spread (s)": 0.012, HOSTILE: HOSTILE}
            ),
        ),
        bars=Section(bars),
        summary=summary_of(bars),
        latencies=Section(tuple(_latency(random, counts, *row[:2]) for row in OPERATIONS[:1] + OPERATIONS[5:7])),
        timelines=Section(tuple(_timeline(random, ranks, *row[:2]) for row in OPERATIONS[:4])),
        trials=DataTable(
            "12 trials, all complete.",
            ("run", "nodes", "repetition", "started", "length (s)", "state"),
            tuple(
                (f"7f3a-{i:04d}", 1 + i % 2, i // 2, f"2026-11-21 10:{4 + i:02d}", 61.2 + i / 7, "complete")
                for i in range(12)
            ),
        ),
        facts=Section(
            (
                FactGroup("Nodes", (("node-1", "16 cores, 64 GiB, Linux 6.1"), (HOSTILE, "16 cores, 64 GiB"))),
                FactGroup(
                    "File system",
                    (
                        ("type", "ext4"),
                        ("source", "/dev/vda1"),
                        ("options", "rw,relatime"),
                        ("free", "79 GiB of 252 GiB"),
                    ),
                ),
                FactGroup("Software", (("iosonde", "0.1.0 (a68e6bb)"), ("MPI", "MPICH 5.0.2"))),
            )
        ),
        reproduce=Reproduce(
            (
                (
                    "Measure the same again",
                    "iosonde run --target /mnt/scratch --nodes 1,2 --ranks-per-node 4 --seed 42",
                ),
                ("Make this page", "iosonde report results -o report.html"),
            ),
            (("seed", "42"), ("experiment", "mtc-7f3a"), ("store schema", "1")),
        ),
    )


def _bars(
    random: np.random.Generator,
    counts: tuple[int, ...],
    operation: str,
    title: str,
    unit: str,
    one: float,
    includes: str,
) -> Bars:
    cells = []
    for nodes in counts:
        values = one * nodes**0.9 * random.normal(1, 0.03, 6)
        ratio = Estimate(nodes**-0.1, nodes**-0.1 * 0.96, nodes**-0.1 * 1.04, 0.95, 6) if nodes > 1 else None
        cells.append(Cell(nodes, estimate(values), tuple(values.tolist()), ratio))
    metric = "bandwidth_last_done" if unit == "bytes/s" else "rate_last_done"
    return Bars(operation, metric, title, unit, tuple(cells), includes=includes)


def _latency(random: np.random.Generator, counts: tuple[int, ...], operation: str, title: str) -> Latency:
    series = []
    for nodes in counts:
        durations = random.lognormal(np.log(3e-4 * nodes**0.2), 0.5, 20_000)
        durations[:600] = random.lognormal(np.log(9e-3), 0.3, 600)
        edges = np.geomspace(durations.min(), durations.max() * 1.01, 80)
        shares = np.histogram(durations, edges)[0] / len(durations)
        percentiles = {}
        for name, q in (("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)):
            value = float(np.quantile(durations, q))
            percentiles[name] = Estimate(value, value * 0.94, value * 1.07, 0.95, 6)
        series.append(LatencySeries(nodes, tuple(edges.tolist()), tuple(shares.tolist()), 20_000, percentiles))
    return Latency(operation, title, tuple(series))


def _timeline(random: np.random.Generator, ranks: int, operation: str, title: str) -> Timeline:
    starts = random.exponential(4e-5, ranks)
    starts -= starts.min()
    ends = 2.1 + random.exponential(0.15, ranks)
    spans = [RankSpan(r, f"node-{1 + r % 2}", float(starts[r]), float(ends[r])) for r in range(ranks)]
    last = int(ends.argmax())
    spans[last] = dataclasses.replace(spans[last], mark="last")
    late = (last + 1) % ranks
    spans[late] = dataclasses.replace(spans[late], mark="late", start_s=0.3, host=HOSTILE)
    return Timeline(
        operation,
        title,
        "trial 7f3a-0011, 2 nodes",
        tuple(spans),
        ranks,
        note=f"Starts spread over 0.30 s (rank {late} last); rank {last} finished last.",
    )


def model_page() -> Page:
    """A table's page: cells of two responses, and a regression of each; one of them on a hostile predictor."""
    page, random = sample_page(), np.random.default_rng(3)
    nothing: Section = Section()
    models = tuple(_model(random, *one) for one in (("write", "bytes/s", 4e8, "nodes"), ("t", "", 3.0, HOSTILE)))
    summary = tuple(_summary(random, *one) for one in (("write", "bytes/s", 4e8), ("t", "", 3.0)))
    return dataclasses.replace(
        page,
        bars=nothing,
        latencies=nothing,
        timelines=nothing,
        facts=nothing,
        trials=None,
        summary=summary,
        models=Section(models),
    )


def settings_page() -> Page:
    """With the figure of its settings at the top."""
    return dataclasses.replace(sample_page(), settings=sample_plot(HOSTILE))


def summary_of(bars: tuple[Bars, ...]) -> tuple[ResponseSummary, ...]:
    """The cells of these bars as the first table takes them; of one node count nothing varies."""
    by = ("nodes",) if any(len(one.cells) > 1 for one in bars) else ()

    def row(cell: Cell) -> SummaryRow:
        levels, setting = (str(cell.nodes),) * len(by), (cell.nodes,) * len(by)
        return SummaryRow(levels, setting, cell.estimate, cell.estimate, None, None, None, cell.efficiency)

    return tuple(ResponseSummary(one.title, one.unit, by, tuple(map(row, one.cells)), one.includes) for one in bars)


def _summary(random: np.random.Generator, title: str, unit: str, center: float) -> ResponseSummary:
    rows = []
    for level in ("1", HOSTILE):
        mean = estimate(center * random.normal(1, 0.05, 6))
        rows.append(SummaryRow((level,), (level,), mean, mean, 0.05 * center, 0.05, mean if unit else None))
    lost = Estimate(center, None, None, 0.95, 1, ("repeat it",))
    rows.append(SummaryRow(("lost",), ("lost",), lost, lost, None, None))
    return ResponseSummary(title, unit, ("nodes",), tuple(rows))


def _model(random: np.random.Generator, title: str, unit: str, center: float, on: str) -> ResponseRegression:
    x = np.repeat([1.0, 2.0, 4.0], 6)
    y = center * (1 + 0.2 * x + random.normal(0, 0.1, 18))
    line_x = np.linspace(1, 4, 20)
    line, predicted = center * (1 + 0.2 * line_x), center * (1 + 0.2 * x)
    band = 0.1 * center * np.ones(20)
    bands = (line - band, line + band, line - 2 * band, line + 2 * band)
    residuals = y - predicted
    quantiles = np.linspace(-2, 2, 18)
    plots = ModelPlots(
        title,
        0.95,
        0.8,
        1e-7,
        on,
        x,
        y,
        line_x,
        line,
        *bands,
        predicted,
        residuals,
        np.arange(1, 19),
        quantiles,
        np.sort(residuals),
    )
    terms = tuple(
        CoefficientRow(name, Estimate(v, 0.8 * v, 1.2 * v, 0.95, 18), 0.1 * v, 10.0, 1e-9)
        for name, v in (("intercept", center), (on, 0.2 * center))
    )
    parts = (
        VariationRow(on, 2, 0.8 * center**2, 0.8, 30.0, 1e-7),
        VariationRow("residual", 15, 0.2 * center**2, 0.2, None, None),
    )
    finding = Finding("S307", Severity.WARNING, f"{on} explains only 40 %", {}, "look for the factor that is missing")
    return ResponseRegression(
        title,
        unit,
        (on,),
        18,
        16,
        f"A step of 1 in {on} adds much.",
        (("R²", "0.4, adjusted 0.35"),),
        terms,
        (finding,),
        plots,
        parts,
        "Half of it.",
    )


def bare_page() -> Page:
    """Nothing but what an empty store gives: every part says what is missing."""
    page = sample_page()
    gone = dataclasses.replace(page.answers, headline="Nothing was measured yet", fast="", sure=(), wrong="")
    none = "No trial is complete. Run: iosonde run --target DIR --store STORE."
    return dataclasses.replace(
        page,
        answers=gone,
        findings=(),
        bars=Section(missing=(none,)),
        latencies=Section(missing=("No operations were recorded: run without --no-operations.",)),
        timelines=Section(missing=("No phases are stored.",)),
        trials=DataTable("The store holds no trial.", ("run",), ()),
        facts=Section(missing=("No facts of the machine are stored.",)),
        reproduce=Reproduce(),
    )


def partial_page() -> Page:
    """One node count, one trial (no interval), clocks that cannot be compared, empty distributions, lost cells."""
    page = sample_page((1,), 1)
    alone = Estimate(5e8, None, None, 0.95, 1, ("needs at least 6 trials",))
    lost = Estimate(None, None, None, 0.95, 0, ("no trial is complete",))
    bars = (
        dataclasses.replace(page.bars.items[0], cells=(Cell(1, alone, (5e8,)),)),
        dataclasses.replace(page.bars.items[1], cells=(Cell(1, lost),)),
    )
    empty = LatencySeries(1, (), (), 0, {"p50": lost})
    latency = (Latency("open", "Open", (empty,), "No operation of this kind was recorded."),)
    timeline = (dataclasses.replace(page.timelines.items[0], comparable=False, ranks=10_000),)
    return dataclasses.replace(
        page, bars=Section(bars), summary=summary_of(bars), latencies=Section(latency), timelines=Section(timeline)
    )


def bound_page() -> Page:
    """A page that knows its hardware and advises: cells below and above the bound, a loss that is a gain."""

    def around(value: float) -> Estimate:
        return Estimate(value, 0.9 * value, 1.1 * value, 0.95, 6)

    xs = (1.0, 2.0, 3.0, 4.0)
    points = (RooflineMark(1.0, around(80e6), False, "fs=a"), RooflineMark(2.0, around(260e6), True, HOSTILE))
    line = Roofline(
        "Write, large files",
        "clients",
        xs,
        {"network_clients": tuple(117e6 * x for x in xs), "disks": (300e6,) * 4},
        tuple(min(117e6 * x, 300e6) for x in xs),
        points,
    )
    parts = (
        ("at the bound", around(0.2)),
        ("late start", around(0.05)),
        ("slow operations", around(-0.1)),
        ("fsync and close", around(0.15)),
    )
    shares = tuple(
        BoundShare("Write, large files", (fs,), around(rate), 200e6, ("the disks",), around(rate / 200e6), verdict)
        for fs, rate, verdict in (("a", 80e6, ""), (HOSTILE, 260e6, "above the bound"))
    )
    losses = WaterfallBars("Write, large files", parts, around(0.3), ("most is lost to waiting.",))
    bound = Bound(
        "40 % of the bound was delivered (the disks).",
        (("net", "112 MiB/s"),),
        ("load is even",),
        ("nothing is known of the fabric",),
        ("fs",),
        shares,
        (line,),
        (losses,),
    )
    compared = (Compared("rules", None, around(0.9), 0.8), Compared("a", {"hint": "a"}, around(0.7), None))
    rules = (
        AdviceRule(f"size is {HOSTILE}", "hint=b", (), {"hint": "b"}, 3, 1.0, 0.9),
        AdviceRule("always", "hint=a", (), {"hint": "a"}, 3, 1.0, 0.9),
    )
    defaults = (
        AdviceDefault("a", {"hint": "a"}, "in use", 3, None, 1, 0.7, 0.6, 0.5, 1e8),
        AdviceDefault(HOSTILE, {"hint": HOSTILE}, "", 3, None, 1, 0.6, 0.5, None, 1e8),
    )
    advice = ResponseAdvice(
        "Write, large files",
        "bytes/s",
        "2 settings (hint) in 6 instances (size).",
        "Advice: 2 rules.",
        ("hint",),
        "a",
        {"hint": "a"},
        around(1.4),
        compared,
        defaults,
        rules,
        ("a cell has one trial",),
    )
    return dataclasses.replace(sample_page(), bound=Section((bound,)), advice=Section((advice,)))

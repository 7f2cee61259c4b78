"""python docs/reproductions/verdicts.py: compare examples/published with docs/results, and write both tables.

With the name of a document, `verdicts.py kunkel-2017`, print what agrees, what does not, and what it got wrong.

Published and measured systems differ in file system, hardware and decade: signs, orders and shares of a link are
compared, never seconds. No verdict is typed: each follows from the numbers by ``iosonde.agreement``.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

import iosonde
from iosonde.agreement.cells import REASONS
from iosonde.agreement.claims import select_numbers
from iosonde.agreement.judge import (
    PublishedOutcome,
    PublishedVerdict,
    judge_absence,
    judge_printed,
    judge_ranking,
    judge_recomputed,
    judge_share,
    judge_sign,
)
from iosonde.core.grouping import group_by_key
from iosonde.core.types import Estimate
from iosonde.core.units import format_significant
from iosonde.importers.published_figures import PrintedNumber, Publication, read_publication
from iosonde.stats.estimate.distributions import t_critical

ROOT = Path(__file__).parents[2]
PUBLISHED, RESULTS, PAGE = (
    ROOT / "examples" / "published",
    ROOT / "docs" / "results",
    ROOT / "docs" / "reproductions.md",
)
BEGIN, END = "<!-- verdicts: begin -->\n", "<!-- verdicts: end -->\n"
LEVEL = 0.95
LEAST = 0.05  # of the mean speed: a smaller effect is none
# The sums of the lecture's 44 trials: whole numbers of replicas that give the printed standard errors.
LECTURE_SUMS = {
    "n": 44,
    "sum_x": 157,
    "sum_x2": 747,
    "b0": 168.12,
    "b1": 20.25,
    "SSR": 76590.4,
    "SSE": 61437.46,
    "x": "replica",
    "response": "cp",
    "x_min": 1,
    "x_max": 8,
}
LINK = 100e6 / 8  # bytes/s of the Ethernet of both, its nominal rate
FASTER = Estimate(math.inf, None, None, LEVEL, 1)  # a claim in words: more than 1, by an unknown factor
OPERATIONS = ("write", "read", "random_read", "random_write")
# Term of the thesis → term of the fit, and the factor that gives both the same direction.
TERMS = {
    "network": ("net[5800mbit]", 1),
    "servers": ("servers", 1),
    "striping": ("shard[off]", -1),
    "replication": ("replica", 1),
    "clients": ("nodes", 1),
    "disk_read": ("disk[fast]", 1),
    "disk_write": ("disk[fast]", 1),
    "file_size": ("size (bytes)", 1e6),  # MB/s of a MB are bytes/s of a byte
}
# Column of the talk's table → column of ``advise``.
DEFAULTS = {
    "times_best": "best",
    "times_worst": "worst",
    "share_of_best": "rel_arith",
    "": "abs",
    "loss": "loss",
    "harmonic_share_of_best": "rel_harm",
    "harmonic_mean": "abs_harm",
}
TUNABLES = ("block_size", "cache_size", "write_behind", "read_ahead", "io_cache", "md_cache")


@dataclass(frozen=True)
class Comparison:
    """A published number or several, what was measured, and the verdict."""

    document: str
    question: str
    numbers: tuple[PrintedNumber, ...]
    published: str
    measured: str
    agreement: PublishedVerdict


def main(documents: Sequence[str]) -> None:
    """Print the verdicts on these documents; without any write both tables into the page."""
    for document in documents:
        print_document(document)
    if documents:
        return
    head, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    PAGE.write_text(f"{head}{BEGIN}\n{build_tables()}\n{END}{rest.partition(END)[2]}", encoding="utf-8")


def print_document(document: str) -> None:
    """Print the comparisons with a document, then what follows from it alone, and the counts."""
    alone = iosonde.compare(str(PUBLISHED / f"{document}.yaml"))
    comparisons = [entry for entry in list_comparisons() if entry.document == document]
    for entry in comparisons:
        print(f"{entry.agreement.outcome}: {entry.question}: published {entry.published}; here {entry.measured}")
    print("", alone, "", sep="\n")
    counts = Counter(find_verdict(number, comparisons) for number in read(document).figures)
    parts = [f"{n} {REASONS.get(verdict, verdict)}" for verdict, n in counts.items()]
    print(f"With docs/results, of {counts.total()} published numbers: {'; '.join(parts)}.")


def build_tables() -> str:
    """Return the table of documents and that of comparisons, as Markdown."""
    comparisons = list_comparisons()
    return f"{_build_document_table(comparisons)}\n{_build_comparison_table(comparisons)}"


def list_comparisons() -> list[Comparison]:
    """Compare every document."""
    return [
        *compare_ficus(),
        *compare_gluster_hardware(),
        *compare_ocean(),
        *compare_sieving(),
        *compare_errors(),
        *compare_folds(),
        *compare_defaults(),
        *compare_importance(),
        *compare_processes(),
        *compare_file_systems(),
        *recompute_ficus(),
        *recompute_stated(),
    ]


def _build_document_table(comparisons: Sequence[Comparison]) -> str:
    """Count the numbers of each document by their verdict, and those without by the reason."""
    publications = [read(path.stem) for path in sorted(PUBLISHED.glob("*.yaml"))]
    counts = [Counter(find_verdict(number, comparisons) for number in item.figures) for item in publications]
    verdicts = [*map(str, PublishedOutcome), *REASONS]
    titles = [title for title in verdicts if any(outcomes[title] for outcomes in counts)]
    lines = [
        "| document | numbers | " + " | ".join(titles) + " | wrong statements |",
        "|---|" + "---:|" * (len(titles) + 2),
    ]
    for publication, outcomes in zip(publications, counts, strict=True):
        n_wrong = sum(statement.slip is not None for statement in publication.statements)
        cells = [outcomes[title] or "" for title in titles]
        row = [publication.document, len(publication.figures), *cells, n_wrong or ""]
        lines.append(f"| {' | '.join(map(str, row))} |")
    return "\n".join(lines) + "\n"


def find_verdict(number: PrintedNumber, comparisons: Sequence[Comparison]) -> str:
    """Return the verdict on a number, of its document's slip or of the first comparison with it; else the reason."""
    printed = judge_printed(number).outcome
    first = next((entry for entry in comparisons if number in entry.numbers), None)
    if printed is PublishedOutcome.DOCUMENT_WRONG or first is None:
        return number.unmeasured if number.slip is None and number.unmeasured else str(printed)
    return str(first.agreement.outcome)


def _build_comparison_table(comparisons: Sequence[Comparison]) -> str:
    lines = ["| document | question | published | here | verdict |", "|---|---|---|---|---|"]
    for entry in comparisons:
        p = "" if entry.agreement.p is None else f" (p = {entry.agreement.p:.2g} of all orders)"
        cells = (entry.document, entry.question, entry.published, entry.measured, f"{entry.agreement.outcome}{p}")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


# What follows from the documents' own numbers


def recompute_ficus() -> Iterator[Comparison]:
    """Compute the means, the regression and the prediction of the lecture again."""
    document, level = "ficus-lecture", 0.9
    groups = iosonde.summary(
        str(PUBLISHED / f"{document}.yaml"), response="cp real", by="replica", level=level, where="file_system=ficus"
    ).to_dict()["groups"]
    means = {group["by"]["replica"]: group for group in groups}
    cp = {"operation": "cp", "file_system": "ficus"}
    yield from recompute(
        document,
        "means of the printed trials, 90 %, s",
        [
            (pick(document, **cp, statistic=f"mean{end}", replica=replica)[0], means[replica][f"mean{end}"])
            for replica, ends in {1: ("", "_low", "_high"), 3: ("_low", "_high")}.items()
            for end in ends
        ],
    )
    line = iosonde.regress(sums=LECTURE_SUMS, level=level, at=["replica=9"]).to_dict()
    intercept, slope = line["terms"]
    values = {
        "ss_regression": line["ssr"],
        "ss_error": line["sse"],
        "r2": line["r2"],
        "explained": 100 * line["r2"],
        "s_e": line["s_e"],
        "ms_error": line["mse"],
        "f": line["f"],
        "f_critical": line["f_critical"],
        "t_critical": t_critical(level, line["df"]),
        "df": line["df"],
        "prediction_sd": line["at"][0]["std_error_new"],
        "prediction_low": line["at"][0]["low"],
        "prediction_high": line["at"][0]["high"],
    }
    for name, term in {"intercept": intercept, "slope_of_replica": slope}.items():
        values |= {f"{name}_std_error": term["std_error"], f"{name}_low": term["low"], f"{name}_high": term["high"]}
    numbers = [(pick(document, **cp, statistic=name)[0], value) for name, value in values.items()]
    numbers.append((pick(document, **cp, statistic="mean", replica=None)[0], line["mean_y"]))
    yield from recompute(document, "the line through all 44 trials, 90 %", numbers)


def recompute_stated() -> Iterator[Comparison]:
    """Compare each number of the documents with the computation that stands beside it, a slide or table at a time."""
    for path in sorted(PUBLISHED.glob("*.yaml")):
        stated = [(number.where, number) for number in read(path.stem).figures if number.follows is not None]
        for where, numbers in group_by_key(stated).items():
            values = [(number, float(number.follows or math.nan)) for number in numbers]
            yield from recompute(path.stem, f"{where}: from its own numbers", values)


def recompute(document: str, question: str, values: Sequence[tuple[PrintedNumber, float]]) -> Iterator[Comparison]:
    """Compare printed numbers with what was computed from the document; one comparison for each verdict."""
    judged = [(number, value, judge_recomputed(number, value)) for number, value in values]
    for verdict in dict.fromkeys(verdict for _, _, verdict in judged):
        group = [(number, value) for number, value, other in judged if other == verdict]
        printed = ", ".join(f"{number.value:.10g}" for number, _ in group)
        computed = ", ".join(format_significant(value, max(4, len(f"{value:.0f}") + 1)) for _, value in group)
        yield Comparison(document, question, tuple(number for number, _ in group), printed, computed, verdict)


# Documents


def compare_ficus() -> Iterator[Comparison]:
    """Compare cp on Ficus with cp on GlusterFS."""
    document = "ficus-lecture"
    low, high, slope = (pick(document, statistic=f"slope_of_replica{end}")[0] for end in ("_low", "_high", ""))
    measured = fit("ficus", "cp", "replica", ["file_system=glusterfs", "nodes=1"])["replica"]
    published = build_estimate(slope, low, high)
    yield Comparison(
        document,
        "a replica more, `cp`, s",
        (slope, low, high),
        describe(published),
        describe(measured),
        judge_sign(published, measured),
    )
    one = pick(document, operation="cp", statistic="mean", replica=1)[0]
    ufs, nfs = (pick(document, operation="cp", file_system=name)[0] for name in ("ufs", "nfs"))
    ratio = compare(RESULTS / "ficus.parquet", "cp", "file_system", "local", "glusterfs", ["nodes=1", "replica=1"])
    yield compare_ratio(document, "one replica ÷ local disk, time of `cp`", [one, ufs], one.value / ufs.value, ratio)
    three = pick(document, operation="cp", statistic="", replica=3)
    mean = sum(number.value for number in three) / len(three)
    ratio = compare(select_ficus(replica=3), "cp", "file_system", "nfs", "glusterfs")
    yield compare_ratio(document, "three replicas ÷ NFS, time of `cp`", [*three, nfs], mean / nfs.value, ratio)


def select_ficus(replica: int) -> Any:
    """Return the trials without a neighbour on NFS, and on GlusterFS with so many replicas."""
    table = pq.read_table(RESULTS / "ficus.parquet").to_pandas()
    is_replicated = (table["file_system"] == "glusterfs") & (table["replica"] == replica)
    return table[(table["nodes"] == 1) & (is_replicated | (table["file_system"] == "nfs"))]


def compare_gluster_hardware() -> Iterator[Comparison]:
    """Compare the signs of the thesis's coefficients; one of about 0 is compared with a share of the mean speed."""
    document, on = "kumar-2013", "net,base_fs,disk,servers,replica,shard,nodes,size"
    for operation in OPERATIONS:
        terms = fit("gluster-hardware", operation, on)
        speeds = pq.read_table(RESULTS / "gluster-hardware.parquet")[f"{operation} (bytes/s)"].to_numpy()
        least = LEAST * float(np.nanmean(speeds)) / 1e6
        for name, (term, direction) in TERMS.items():
            (number,) = pick(document, operation=operation, statistic="coefficient", term=name)
            published, measured = build_estimate(number), multiply(terms[term], direction / 1e6)
            question = f"{operation.replace('_', ' ')}: {name.replace('_', ' ')}, MB/s"
            agreement = judge_sign(published, measured) if number.value else judge_absence(measured, least)
            printed = describe(published) if number.value else "≈ 0"
            yield Comparison(document, question, (number,), printed, describe(measured), agreement)


def compare_ocean() -> Iterator[Comparison]:
    """Compare the run times of an application that computes and writes."""
    document = "kumar-2013"
    settings = [{"servers": 4, "net": "993mbit"}, {"servers": 2, "net": "5800mbit"}, {"servers": 4, "net": "5800mbit"}]
    numbers = [pick(document, operation="ocean", statistic="", cpu=None, **setting)[0] for setting in settings]
    slow, two, four = (number.value for number in numbers)
    link = compare(RESULTS / "proxy-app.parquet", "ocean", "net", "5800mbit", "993mbit", ["servers=4"])
    yield compare_ratio(document, "slow link ÷ fast link, 4 servers, time", [numbers[0], numbers[2]], slow / four, link)
    servers = compare(RESULTS / "proxy-app.parquet", "ocean", "servers", "4", "2", ["net=5800mbit"])
    yield compare_ratio(document, "2 servers ÷ 4, fast link, time", numbers[1:], two / four, servers)
    means = [summarise("proxy-app", "ocean", [f"{name}={level}" for name, level in row.items()]) for row in settings]
    values = [mean.value or math.nan for mean in means]
    yield Comparison(
        document,
        "order of three clusters",
        tuple(numbers),
        ", ".join(f"{number.value:g} min" for number in numbers),
        ", ".join(f"{format_significant(value)} s" for value in values),
        judge_ranking([number.value for number in numbers], values),
    )


def compare_sieving() -> Iterator[Comparison]:
    """Compare the rules for holes that are smaller than a limit, hole by hole."""
    document = "kunkel-2017"
    for operation, holes in {"read": ("2KiB", "16KiB", "128KiB"), "write": ("2KiB", "16KiB")}.items():
        (number,) = pick(document, operation=operation, statistic="sieve_below")
        for hole in holes:
            where = [f"hole_size={hole}"]
            ratio = compare(RESULTS / "sieving.parquet", operation, "method", "naive", "sieve", where)
            agreement = judge_sign(FASTER, ratio, 1.0)
            question = f"{operation}: sieving ÷ not, holes of {hole}, speed"
            published = f"faster below {number.value:g} KiB"
            yield Comparison(document, question, (number,), published, describe(ratio), agreement)
    ratio = compare(RESULTS / "sieving.parquet", "write", "servers", "1", "2")
    agreement = judge_sign(FASTER, ratio, 1.0)
    yield Comparison(document, "write: 2 servers ÷ 1, speed", (), "always 2", describe(ratio), agreement)


def compare_errors() -> Iterator[Comparison]:
    """Compare mean errors of prediction: of the mean, of lines, and of trees."""
    document, factor = "kunkel-2017", 2.0**20
    mean, line = (pick(document, metric="bandwidth", model=model)[0] for model in ("mean", "line"))
    trees = pick(document, metric="bandwidth", model="tree", statistic="error_mean")
    on = "access_size,hole_size,method,servers"
    models = iosonde.validate(str(RESULTS / "sieving.parquet"), response="read", on=on).to_dict()["models"]
    errors = {entry["model"]: entry for entry in models}
    for worse, better, numbers in (("mean", "linear", (mean, line)), ("linear", "tree", (line, *trees))):
        first, second = errors[worse], errors[better]
        difference = Estimate(
            (first["mae"] - second["mae"]) / factor,
            (first["mae_low"] - second["mae_high"]) / factor,
            (first["mae_high"] - second["mae_low"]) / factor,
            LEVEL,
            1,
        )
        published = build_estimate(numbers[0]).value or math.nan
        least = min(published - number.value for number in numbers[1:])
        claim = Estimate(least, None, None, LEVEL, 1)
        question = f"read: error of the {worse} model − that of the {better} one, MiB/s"
        agreement = judge_sign(claim, difference)
        yield Comparison(document, question, numbers, format_significant(least), describe(difference), agreement)


def compare_folds() -> Iterator[Comparison]:
    """Compare the order of the errors of the mean, lines and trees by folds, and the error of the mean."""
    document, on = "kunkel-2017", "access_size,hole_size,method,servers"
    mean, line = (pick(document, metric="bandwidth", model=model)[0] for model in ("mean", "line"))
    trees = pick(document, metric="bandwidth", model="tree", statistic="error_mean")
    classes = pick(document, metric="classes", model="tree", statistic="error_mean")
    models: dict[tuple[str, int], dict[str, Any]] = {}
    for tree in trees:
        folds = int(tree.settings["folds"])
        answer = iosonde.validate(str(RESULTS / "sieving.parquet"), response="read", on=on, folds=folds).to_dict()
        models |= {(model["model"], folds): model for model in answer["models"]}
    ours = [models["mean", 8], models["linear", 8], *(models["tree", int(tree.settings["folds"])] for tree in trees)]
    for question, numbers, key, scale in (
        ("read: errors of mean, line and trees of 2, 4, 8 folds, MiB/s", [mean, line, *trees], "mae", 2.0**20),
        ("read: errors of trees of 2, 4, 8 folds, classes", classes, "class_error", 1.0),
    ):
        values = [model[key] / scale for model in ours[-len(numbers) :]]
        yield compare_order(document, question, numbers, [number.value for number in numbers], values)
    (average,) = pick(document, metric="bandwidth", system="wr-cluster", statistic="mean")
    table = pq.read_table(RESULTS / "sieving.parquet")["read (bytes/s)"].to_numpy()
    baseline = Estimate(ours[0]["mae"], ours[0]["mae_low"], ours[0]["mae_high"], LEVEL, 1)
    share, measured = mean.value / average.value, multiply(baseline, 1 / float(np.nanmean(table)))
    question = "read: error of the mean model ÷ mean speed"
    agreement = judge_share(share, measured)
    yield Comparison(document, question, (mean, average), format_significant(share), describe(measured), agreement)


def compare_defaults() -> Iterator[Comparison]:
    """Compare the order of the defaults, servers and sieving, in each column of the talk's table. Ours have no stripes:
    its two sizes of stripes are averaged."""
    document = "kunkel-2017"
    choose, given = "servers,method", "access_size,hole_size"
    answer = iosonde.advise(str(RESULTS / "sieving.parquet"), response="read", choose=choose, given=given).to_dict()
    ours = {row["setting"]: row for row in answer["defaults"]}
    for statistic, column in DEFAULTS.items():
        numbers = pick(document, operation="noncontiguous", statistic=statistic, sieve_buffer=4 * 2**20)
        settings = group_by_key((f"{n.settings['servers']}/{n.settings['method']}", n.value) for n in numbers)
        published = [sum(values) / len(values) for values in settings.values()]
        measured = [ours[setting][column] for setting in settings]
        scale = 2.0**20 if column in ("abs", "loss", "abs_harm") else 0.01 if column.startswith("rel") else 1.0
        question = f"defaults {', '.join(settings)}: {statistic.replace('_', ' ') or 'mean'}"
        yield compare_order(document, question, numbers, published, [value / scale for value in measured])


def compare_importance() -> Iterator[Comparison]:
    """Compare the importance of tunables: shares of the variation that single factors explain together. The interval
    takes their sum as known."""
    document = "kumar-2013"
    tables = {("O_SYNC", operation): ("all", "sync") for operation in OPERATIONS}
    tables |= {("buffered", operation): (operation, "buffered") for operation in OPERATIONS}
    for (opened, operation), (table, level) in tables.items():
        answer = iosonde.rank(
            str(RESULTS / "gluster-tunables.parquet"),
            response=operation,
            on=",".join(TUNABLES),
            where=[f"opened={level}"],
        ).to_dict()
        ours = {row["name"].partition(" (")[0]: row for row in answer["factors"]}
        numbers = pick(document, operation=table, statistic="importance", opened=opened)
        for number in numbers:
            term = str(number.settings["term"])
            if term == "rest":
                continue
            row = ours[term]
            factor = row["importance"] / row["s1"] if row["s1"] else 1.0
            measured = Estimate(row["importance"], factor * row["s1_low"], factor * row["s1_high"], LEVEL, answer["n"])
            question = f"{operation.replace('_', ' ')}, {opened}: importance of the {term.replace('_', ' ')}"
            agreement = judge_share(number.value, measured)
            yield Comparison(document, question, (number,), f"{number.value:g}", describe(measured), agreement)
        rest = next(number for number in numbers if number.settings["term"] == "rest")
        named = {str(number.settings["term"]) for number in numbers}
        least = max((row for name, row in ours.items() if name not in named), key=lambda row: row["importance"])
        factor = least["importance"] / least["s1"] if least["s1"] else 1.0
        measured = Estimate(
            least["importance"], factor * least["s1_low"], factor * least["s1_high"], LEVEL, answer["n"]
        )
        question = f"{operation.replace('_', ' ')}, {opened}: importance of the next one, {least['name']}"
        yield Comparison(document, question, (rest,), "≈ 0", describe(measured), judge_absence(measured, LEAST))


def compare_processes() -> Iterator[Comparison]:
    """Compare what a process more changes, and the share of the link that one process gets."""
    document, response = "cheng-2004", "write bandwidth"
    for theirs, ours in {"nfs": "nfs", "pvfs": "glusterfs", "castor": "xrootd"}.items():
        where = [f"file_system={theirs}", "file_size=100MiB"]
        cells = pick(document, record_size=2**19, file_size=100 * 2**20, file_system=theirs)
        published = multiply(fit(PUBLISHED / f"{document}.yaml", response, "ranks_per_node", where)["ranks_per_node"])
        measured = multiply(fit("processes", "write", "ranks_per_node", [f"file_system={ours}"])["ranks_per_node"])
        question = f"a process more, {name_pair(theirs, ours)}, MB/s"
        agreement = judge_sign(published, measured)
        yield Comparison(document, question, tuple(cells), describe(published), describe(measured), agreement)
        if theirs == "castor":  # its data went through a protocol of its own
            continue
        first = next(cell for cell in cells if cell.settings["ranks_per_node"] == 1)
        share = first.unit.to_base(first.value) / LINK
        ours_share = multiply(summarise("processes", "write", [f"file_system={ours}", "ranks_per_node=1"]), 1 / LINK)
        question = f"one process, {name_pair(theirs, ours)}: share of the link's 100 Mbit/s"
        agreement = judge_share(share, ours_share)
        yield Comparison(document, question, (first,), format_significant(share), describe(ours_share), agreement)


def compare_file_systems() -> Iterator[Comparison]:
    """Compare file systems with NFS, over all sizes of records. The times of OpenAFS here are not those of its data."""
    document = "cheng-2004"
    nfs = pick(document, operation="write", file_size=2**29, file_system="nfs")
    for theirs, ours in {"pvfs": "glusterfs", "castor": "xrootd"}.items():
        cells = pick(document, operation="write", file_size=2**29, file_system=theirs)
        published = sum(cell.value for cell in cells) / sum(cell.value for cell in nfs)
        ratio = compare(RESULTS / "record-size.parquet", "write", "file_system", "nfs", ours, ["file_size=32MiB"])
        question = f"{name_pair(theirs, ours)} ÷ NFS, speed"
        yield compare_ratio(document, question, [*cells, *nfs], published, ratio)


# Parts


@cache
def read(document: str) -> Publication:
    """Read the file of a document."""
    path = PUBLISHED / f"{document}.yaml"
    return read_publication(path.read_text(encoding="utf-8"), path.name)


def pick(document: str, **conditions: Any) -> list[PrintedNumber]:
    """Return the numbers of a document with these fields and settings, in order; None: without that setting."""
    return select_numbers(read(document), conditions)


def build_estimate(
    number: PrintedNumber, low: PrintedNumber | None = None, high: PrintedNumber | None = None
) -> Estimate:
    """Return a published number with its interval, in its own unit."""
    return Estimate(number.value, low and low.value, high and high.value, LEVEL, 1)


def compare_order(
    document: str,
    question: str,
    numbers: Sequence[PrintedNumber],
    published: Sequence[float],
    measured: Sequence[float],
) -> Comparison:
    """Compare the order of the same settings."""
    texts = [", ".join(format_significant(value) for value in values) for values in (published, measured)]
    return Comparison(document, question, tuple(numbers), *texts, judge_ranking(published, measured))


def compare_ratio(
    document: str, question: str, numbers: Sequence[PrintedNumber], published: float, measured: Estimate
) -> Comparison:
    """Compare two ratios by their sides of 1."""
    agreement = judge_sign(Estimate(published, None, None, LEVEL, 1), measured, 1.0)
    text = format_significant(published)
    return Comparison(document, question, tuple(numbers), text, describe(measured), agreement)


def fit(data: str | Path, response: str, on: str, where: Sequence[str] = ()) -> dict[str, Estimate]:
    """Return the terms of a line, in base units; ``data`` is a file, or the name of one of our results."""
    path = data if isinstance(data, Path) else RESULTS / f"{data}.parquet"
    answer = iosonde.regress(str(path), response=response, on=on, where=list(where)).to_dict()
    return {
        term["name"]: Estimate(term["estimate"], term["low"], term["high"], LEVEL, answer["n"])
        for term in answer["terms"]
    }


def compare(data: Any, response: str, group: str, a: str, b: str, where: Sequence[str] = ()) -> Estimate:
    """Return the ratio B ÷ A of a response."""
    source = str(data) if isinstance(data, Path) else data
    answer = iosonde.compare(source, response=response, group=group, levels=[a, b], where=list(where)).to_dict()
    (row,) = answer["comparisons"]
    ratio = row["ratio"]
    return Estimate(ratio["value"], ratio["low"], ratio["high"], LEVEL, ratio["n"])


def summarise(data: str, response: str, where: Sequence[str]) -> Estimate:
    """Return the mean of a response over the trials of one setting."""
    answer = iosonde.summary(str(RESULTS / f"{data}.parquet"), response=response, where=list(where)).to_dict()
    (row,) = answer["groups"]
    return Estimate(row["mean"], row["mean_low"], row["mean_high"], LEVEL, row["n"])


def multiply(estimate: Estimate, factor: float = 1e-6) -> Estimate:
    """Return an estimate in another unit or direction; MB/s of bytes/s without a factor."""
    ends = [None if end is None else end * factor for end in (estimate.value, estimate.low, estimate.high)]
    low, high = ends[1:] if factor > 0 else ends[:0:-1]
    return Estimate(ends[0], low, high, estimate.level, estimate.n)


def describe(estimate: Estimate) -> str:
    """Format an estimate with its interval."""
    value, low, high = (
        "~" if end is None else format_significant(end) for end in (estimate.value, estimate.low, estimate.high)
    )
    return value if estimate.low is None else f"{value} ({low} to {high})"


def name_pair(theirs: str, ours: str) -> str:
    """Name a published file system and the one that stands for it here."""
    names = {"nfs": "NFS", "pvfs": "PVFS", "castor": "CASTOR", "glusterfs": "GlusterFS", "xrootd": "XRootD"}
    return names[theirs] if theirs == ours else f"{names[theirs]} (here {names[ours]})"


if __name__ == "__main__":
    main(sys.argv[1:])

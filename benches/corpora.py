"""The importers held against a directory of other people's results: what is read, what is lost, what is double.

    python benches/corpora.py DIRECTORY [--store DIR] [--name NAME] [--factors-from PATTERN]

Imports all of it as ``iosonde import -r`` does, and prints a row of the table of docs/corpora.md. The numbers of each
file are read a second time by a few regular expressions that know nothing of the importers: each has to be in a run of
that file, or of the execution that it belongs to. Two runs with the same results are a double. Nothing is fetched.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq

from iosonde.store import Store

KIB, MIB, GIB = 1024.0, 1024.0**2, 1024.0**3
# Two runs are a double if none of their results differs: by more than this share where they share many, at all if few.
SAME, MANY, FEW = 0.001, 6, 3
EXACT = 1e-5  # what is read twice from the same characters
# A list of IO500 has three decimals of GiB/s or of kIOPS, and of mdtest the fastest rank; IOR's table has five digits.
ROUNDED, NEAR = {"ior": 0.00051 * GIB, "mdtest": 0.51}, 0.005
_WHOLE = pc.field("rank").is_null()
Numbers = Iterator[tuple[str, float]]

_LIST = re.compile(r"^\[RESULT\]\s+(?:(?:BW|IOPS)\s+phase \d+\s+)?([\w-]+)\s+([\d.]+)\s+(GB/s|GiB/s|kiops|kIOPS)", re.M)
_SECTION = re.compile(r"^\[((?:ior|mdtest|find)[\w-]*)\]\n(?:(?!\[).*\n)*?score\s*= ([\d.]+)$", re.M)
_IOR = re.compile(r"^(write|read) +([\d.]+) +[\d.-]+ +[\d.-]+", re.M)
_MDTEST = re.compile(r"^ +((?:File|Directory|Tree) \w+) *:? +([\d.]+) +([\d.]+) +([\d.]+) +[\d.]+ *$", re.M)
_IOZONE = re.compile(r"^ {4,}(\d+ +\d+(?: +\d+)+) *$", re.M)
_ELBENCHO = re.compile(r"^(?:([A-Z]+\d*) +|  +)(IOPS|Throughput MiB/s|(?:Files|Dirs)/s) +: +([\d.]+) +([\d.]+)", re.M)


def numbers_of(name: str, text: str) -> Numbers:
    """(what, value in base units) of every result in a file."""
    if "[RESULT]" in text:
        for phase, value, unit in _LIST.findall(text):
            yield phase, float(value) * (GIB if unit[0] == "G" else 1e3)
    elif name == "result.txt":
        for phase, value in _SECTION.findall(text):
            yield phase, float(value) * (GIB if phase.startswith("ior") else 1e3)
    elif text.startswith("ISO date,label,"):
        for row in csv.DictReader(io.StringIO(text)):
            yield from (
                (f"{row['operation']} {key}", float(row[key]) * factor)
                for key, factor in (("IOPS [last]", 1.0), ("MiB/s [last]", MIB), ("entries/s [last]", 1.0))
                if row.get(key)
            )
    elif "RESULT TYPE" in text:
        for phase, what, _, last in _ELBENCHO.findall(text):
            yield f"{phase} {what}", float(last) * (MIB if "MiB" in what else 1.0)
    elif '"fio version"' in text:
        yield from _fio(text)
    elif '"train_au_' in text and name == "summary.json":
        metric = json.loads(text).get("metric", {})
        for key, factor in (("train_throughput_mean_samples_per_second", 1.0), ("train_io_mean_MB_per_second", MIB)):
            yield key, float(metric.get(key, 0.0)) * factor
    elif "Iozone: Performance Test" in text:
        for row in _IOZONE.findall(text):
            yield from ((f"row {row.split()[:2]}", float(word) * KIB) for word in row.split()[2:])
    else:
        yield from _of_mpi(text)


def _fio(text: str) -> Numbers:
    try:
        document = json.loads(text[text.index("{") :])
    except ValueError:
        return
    for job in document.get("jobs", ()):
        for way in ("read", "write"):
            part = job.get(way, {})
            if part.get("iops"):
                yield f"{way} iops", float(part["iops"])
            if part.get("bw_bytes"):
                yield f"{way} bw", float(part["bw_bytes"])


def _of_mpi(text: str) -> Numbers:
    if re.search(r"^IOR-\d|MPI Coordinated Test", text, re.M):
        yield from ((way, float(value) * MIB) for way, value in _IOR.findall(text))
    if "SUMMARY rate" in text:
        rates = text[text.index("SUMMARY rate") :].partition("SUMMARY time")[0]
        yield from ((what, float(mean)) for what, _, _, mean in _MDTEST.findall(rates))


@dataclass
class Corpus:
    """What an import of a directory came to. ``runs``: by the file that each is of; ``values`` of each
    run, those of no single rank; ``numbers``: all of them."""

    directory: Path
    imported: dict[str, Any]
    seconds: float
    runs: dict[str, list[dict[str, Any]]] = field(default_factory=lambda: defaultdict(list))
    values: dict[str, dict[tuple[str, str], list[float]]] = field(default_factory=dict)
    numbers: dict[str, np.ndarray] = field(default_factory=dict)

    def load(self, store: Path) -> None:
        """Every run of the store with its numbers."""
        for document in Store.open(store).runs():
            self.runs[document["facts"]["import"]["file"]].append(document)
            values = self.values[document["id"]] = defaultdict(list)
            table = store / "runs" / document["id"] / "results.parquet"
            if table.is_file():
                self.numbers[document["id"]] = np.sort(pq.read_table(table, columns=["value"])["value"].to_numpy())
                rows = pq.read_table(table, columns=["operation", "metric", "value"], filters=_WHOLE)
                columns = (rows[name].to_pylist() for name in rows.column_names)
                for operation, metric, value in zip(*columns, strict=True):
                    values[operation, metric].append(value)

    def of_file(self, name: str) -> list[dict[str, Any]]:
        """The runs of a file: its own, or those of its directory, of those above it and below it."""
        if name in self.runs:
            return self.runs[name]
        place = PurePosixPath(name).parent
        return [
            run for other, runs in self.runs.items() for run in runs if _related(place, PurePosixPath(other).parent)
        ]


def _related(one: PurePosixPath, other: PurePosixPath) -> bool:
    return one == other or one in other.parents or other in one.parents


def missing_numbers(corpus: Corpus) -> tuple[int, list[str], list[str]]:
    """How many numbers of the files were looked for; those that no run of theirs has; of these, those of files that are
    marked as incomplete."""
    count, lost, marked = 0, [], []
    told = {one["file"] for one in corpus.imported["imported"]}
    for path in sorted(path for path in corpus.directory.rglob("*") if str(path) in told):
        name = path.relative_to(corpus.directory).as_posix()
        numbers = [one for one in numbers_of(path.name, _text(path)) if one[1] > 0]
        runs = corpus.of_file(name) if numbers else []
        least = next((ROUNDED[tool] for tool in ROUNDED if path.name.startswith(tool)), 0.0)
        there = np.sort(np.concatenate([np.zeros(0), *(corpus.numbers.get(run["id"], np.zeros(0)) for run in runs)]))
        count += len(numbers)
        absent = [f"{name}: {what} {value:.8g}" for what, value in numbers if not _has(there, value, least)]
        # The results of one execution stand beside another submission as well: its run tells of both.
        if absent and not any(all(_has(one, value, least) for _, value in numbers) for one in corpus.numbers.values()):
            (marked if any(run.get("missing") for run in runs) else lost).extend(absent)
    return count, lost, marked


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace").replace("\r\n", "\n")


def _has(there: np.ndarray, value: float, least: float) -> bool:
    reach = max(value * (NEAR if least else EXACT), least)
    at = np.searchsorted(there, value - reach)
    return bool(at < len(there) and there[at] <= value + reach)


def doubles(corpus: Corpus) -> list[str]:
    """Pairs of runs with the same results."""
    results = {
        run: {key: values[-1] for key, values in cells.items() if _is_result(*key) and values[-1] > 0}
        for run, cells in corpus.values.items()
    }
    names = {run["id"]: name for name, runs in corpus.runs.items() for run in runs}
    by_first = defaultdict(list)
    for run, cells in results.items():
        for key in sorted(cells)[:1]:
            by_first[key].append((cells[key], run))
    found = []
    for several in by_first.values():
        several.sort()
        for at, (value, run) in enumerate(several):
            for other_value, other in several[at + 1 :]:
                if other_value > value * (1 + SAME):
                    break
                if _equal(results[run], results[other]):
                    found.append(f"{names[run]} = {names[other]}")
    return found


def _is_result(operation: str, metric: str) -> bool:
    return not metric.startswith("time") and "sample" not in metric and operation != "score"


def _equal(one: dict[tuple[str, str], float], other: dict[tuple[str, str], float]) -> bool:
    both = one.keys() & other.keys()
    worst = max((abs(one[key] / other[key] - 1) for key in both), default=1.0)
    return (len(both) >= MANY and worst <= SAME) or (len(both) >= FEW and worst == 0)


def counted(sentences: Counter[str]) -> str:
    """``12 × this; 3 × that``, the most frequent first."""
    return "; ".join(f"{count:,} × {sentence}" for sentence, count in sentences.most_common()) or "none"


def kind(sentence: str) -> str:
    """A sentence without its line and its numbers, so that its like can be counted."""
    short = re.sub(r"^line \d+: |^[\w.-]+\.txt: ", "", sentence).partition(": ")[0]
    return re.sub(r"\b(ior|mdtest|find)\w*\b", "a phase", re.sub(r"\d[\d.,]*", "N", short))


def row(corpus: Corpus, name: str) -> str:
    """The row of the table; what was lost and what is double goes to stderr."""
    made = corpus.imported
    count, lost, marked = missing_numbers(corpus)
    double = doubles(corpus)
    for title, several in (("lost", lost), ("lost, and marked", marked), ("double", double)):
        for one in several:
            print(f"{title}: {one}", file=sys.stderr)
    runs = [run for several in corpus.runs.values() for run in several]
    incomplete = Counter(kind(run["missing"][0]) for run in runs if run.get("missing"))
    refused = Counter(one["reason"].partition(":")[0] for one in made["unknown"])
    refused["only quotes output"] += len(made["quoted"])
    results = len(made["imported"]) + made["already_there"]
    cells = [name, f"{made['files']:,}", f"{results:,}", f"{len(runs):,}"]
    cells += [
        f"{sum(incomplete.values()):,}: {counted(incomplete)}",
        f"{made['files'] - results:,}: {counted(+refused)}",
    ]
    cells += [f"{count:,}", f"{len(lost):,} ({len(marked):,})", f"{len(double):,}", f"{corpus.seconds:.0f}"]
    return "| " + " | ".join(cells) + " |"


COLUMNS = (
    "corpus",
    "files",
    "results",
    "runs",
    "incomplete, and why",
    "refused, and why",
    "numbers looked for",
    "lost (in runs that are marked)",
    "doubles",
    "seconds",
)
HEAD = f"| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|"


def imported(directory: Path, store: Path, factors_from: str = "", run: Callable[..., Any] = subprocess.run) -> Corpus:
    """Import a directory and load what it became. Raises CalledProcessError where the import fails."""
    started = time.perf_counter()
    command = [sys.executable, "-m", "iosonde.cli.main", "import", "-r", str(directory), "--store", str(store)]
    command += ["--json", *(["--factors-from", factors_from] if factors_from else [])]
    made = run(command, check=True, capture_output=True, text=True)
    corpus = Corpus(directory, json.loads(made.stdout), time.perf_counter() - started)
    corpus.load(store)
    return corpus


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("directory", type=Path)
    words.add_argument("--store", type=Path, help="where to, instead of a directory that is deleted afterwards")
    words.add_argument("--name", default="", help="what the row calls it")
    words.add_argument("--factors-from", default="", help="what the paths say, as for iosonde import")
    asked = words.parse_args()
    with tempfile.TemporaryDirectory(prefix="corpora-") as scratch:
        corpus = imported(asked.directory, asked.store or Path(scratch) / "store", asked.factors_from)
    print(HEAD)
    print(row(corpus, asked.name or asked.directory.name))


if __name__ == "__main__":
    main()

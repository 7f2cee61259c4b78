"""Command lines of IOR, mdtest and IOzone on our engine against the tools themselves, by the tool's own definition.

In every round the tool and ``iosonde run '…' --native`` do the same command in turn, beginning with the other one each
time. The ratio ours ÷ the tool's is taken within a round; its median over the rounds is printed with its interval, as
the table of docs/native.md. Tools that are not on PATH are named and left out.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from iosonde.commands.explain_difference.stated_numbers import build_stated_sides
from iosonde.importers import read, understand
from iosonde.importers.runs import build_runs
from iosonde.stats.estimate import summarise

LEVEL = 0.95
RANKS = 2
COMMANDS = (
    "ior -w -r -F -e -t 1m -b 128m",
    "ior -w -r -t 64k -b 32m",
    "mdtest -F -u -n 5000",
    "iozone -i 0 -i 1 -s 128m -r 1m -t 2",
)
# mdtest's names in its summary → ours.
_MDTEST = {
    "File creation": "file_creation",
    "File stat": "file_stat",
    "File read": "file_read",
    "File removal": "file_removal",
}


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=8)
    options.add_argument("--dir", default="/dev/shm", help="where to measure")
    chosen = options.parse_args()
    mpiexec = shutil.which("mpiexec") or shutil.which("mpiexec", path=str(Path(sys.executable).parent))
    print("| command | number | iosonde | the tool | ratio | interval |\n|---|---|---|---|---|---|")
    for command in COMMANDS:
        tool = command.split()[0]
        if shutil.which(tool) is None or mpiexec is None:
            print(f"{tool} or mpiexec is not on PATH: '{command}' is not compared", file=sys.stderr)
            continue
        values: dict[str, list[tuple[float, float]]] = {}
        for number in range(chosen.rounds):
            if number % 2:
                mine, theirs = ours(command, chosen.dir), the_tools(command, chosen.dir, mpiexec)
            else:
                theirs = the_tools(command, chosen.dir, mpiexec)
                mine = ours(command, chosen.dir)
            for name in theirs:
                values.setdefault(name, []).append((mine[name], theirs[name]))
        for name, pairs in values.items():
            _print(command, name, pairs, tool == "mdtest")


def _print(command: str, name: str, pairs: list[tuple[float, float]], operations: bool) -> None:
    ratio = summarise.estimate_median([mine / theirs for mine, theirs in pairs], LEVEL)
    scale, unit = (1e3, "kop/s") if operations else (2**20, "MiB/s")
    mine, theirs = (median(pair[side] for pair in pairs) / scale for side in (0, 1))
    interval = "~" if ratio.low is None or ratio.high is None else f"{ratio.low:.2f}–{ratio.high:.2f}"
    value = ratio.value or float("nan")
    print(f"| `{command}` | {name} | {mine:.0f} {unit} | {theirs:.0f} {unit} | {value:.2f} | {interval} |", flush=True)


def ours(command: str, directory: str) -> dict[str, float]:
    """Number → value in base units, by the tool's definition, of one native trial."""
    tool = command.split()[0]
    with tempfile.TemporaryDirectory() as scratch, tempfile.TemporaryDirectory(dir=directory) as target:
        store = f"{scratch}/store"
        words = ["run", command, "--native", "--target", target, "--store", store, "--repetitions", "1"]
        _iosonde(words + ([] if tool == "iozone" else ["--ranks-per-node", str(RANKS)]))
        (setting,) = json.loads(_iosonde(["show", store, "--as", tool, "--json"]))["settings"]
    if tool == "mdtest":
        return {_MDTEST[row["operation"]]: row["mean"] for row in setting["summary"]}
    rows = {phase["phase"]: phase["rows"][0] for phase in setting["phases"]}
    if tool == "ior":
        return {name: row["bandwidth"] for name, row in rows.items()}
    return {f"{name}, {who}": row[who] for name, row in rows.items() for who in ("children", "parent")}


def the_tools(command: str, directory: str, mpiexec: str) -> dict[str, float]:
    """The same of one run of the tool itself, from its output."""
    words = command.split()
    with tempfile.TemporaryDirectory(dir=directory) as target:
        place = {
            "ior": ["-o", f"{target}/file"],
            "mdtest": ["-d", target],
            "iozone": ["-F", *(f"{target}/{rank}" for rank in range(RANKS))],
        }[words[0]]
        start = [] if words[0] == "iozone" else [mpiexec, "-n", str(RANKS)]
        done = subprocess.run([*start, *words, *place], cwd=target, check=True, capture_output=True)
    text = read(io.BytesIO(done.stdout), words[0])
    (run,) = build_runs(understand(text), text, "bench")
    found = {}
    for name, side in build_stated_sides(run, words[0], words[0]).items():
        if words[0] == "iozone":
            parent = next(
                row.value for row in run.observations if (row.operation, row.metric) == (name, "bandwidth_last_done")
            )
            found |= {f"{name}, children": side.value, f"{name}, parent": parent}
        elif words[0] == "ior" or name in _MDTEST.values():
            found[name] = side.value
    return found


def _iosonde(words: list[str]) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "iosonde.cli.main", *words], check=True, capture_output=True, text=True, env=os.environ
    )
    return done.stdout


if __name__ == "__main__":
    main()

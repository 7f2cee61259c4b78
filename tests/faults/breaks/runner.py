"""`python -m faults.breaks.runner`: hundreds of attempts to break survey, lab, import, store and serve, and what held.

    --quick                  a few of each, always the same ones (at most 90 s of CPU)
    --seed 7                 which are drawn (1 if not given)
    --parts import,store     some parts alone
    --only 'survey: hangs'   only cases whose row or name has this text, with all that broke
    --write-docs             the table goes into docs/reliability.md

A break is printed with the command that repeats it alone. Ends with 1 if anything broke. The rows that are printed:
what was attacked, how often, how often it held. A part that cannot be tried on this machine says why.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib
import json
import os
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from faults.table import replace_between

from .case import Case, NotTriedError
from .warm import warm

# The module of each part; how many of its cases run at once (those that wait for a hang take no CPU).
PARTS = {"texts": 2, "archives": 2, "stores": 2, "kills": 2, "serving": 2, "survey": 6, "users": 2, "labs": 1}
_CLONE_NEWNS = 0x20000
OUT = Path(__file__).parents[3] / "build" / "faults"
DOCS = Path(__file__).parents[3] / "docs" / "reliability.md"
BEGIN = "<!-- made by: make test-faults-breaks BREAKS_OPTIONS=--write-docs -->"
END = "<!-- end of these rows -->"


@dataclass
class Tally:
    """What the cases of some parts came to."""

    tried: Counter[str] = field(default_factory=Counter)
    broken: Counter[str] = field(default_factory=Counter)
    breaks: list[dict[str, object]] = field(default_factory=list)
    not_tried: dict[str, Counter[str]] = field(default_factory=dict)

    def rows(self) -> list[list[str]]:
        """What, tried, held, broken."""
        rows = [
            [row, str(self.tried[row]), str(self.tried[row] - self.broken[row]), str(self.broken[row])]
            for row in self.tried
        ]
        tried, broken = sum(self.tried.values()), sum(self.broken.values())
        return [*rows, ["all", str(tried), str(tried - broken), str(broken)]]


HEAD = ["what", "tried", "held", "broken"]


def main() -> None:
    """Run what was asked for, print the table."""
    options = _options()
    _isolate()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    tally = Tally()
    for part in options.parts.split(","):
        began, cpu = time.monotonic(), _cpu_s()
        run_part(part, options.seed, options.quick, options.only, tally)
        print(f"{part}: {time.monotonic() - began:.0f} s, {_cpu_s() - cpu:.0f} s of CPU", flush=True)
    print(_text(tally))
    if options.write_docs:
        replace_between(DOCS, BEGIN, END, _markdown(tally, options.seed))
    OUT.mkdir(parents=True, exist_ok=True)
    (OUT / "breaks.json").write_text(
        json.dumps(
            {"seed": options.seed, "quick": options.quick, "breaks": tally.breaks, "rows": tally.rows()}, indent=1
        )
    )
    sys.exit(bool(tally.breaks))


def _isolate() -> None:
    """Mounts of the cases are seen by nobody else, and go with this process, however it ends."""
    libc = ctypes.CDLL(None, use_errno=True)
    if not os.geteuid() and not libc.unshare(_CLONE_NEWNS):
        subprocess.run(["mount", "--make-rprivate", "/"], check=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--only", default="")
    parser.add_argument("--write-docs", action="store_true")
    return parser.parse_args()


def cases(part: str, seed: int, quick: bool) -> list[Case]:
    """The cases of a part."""
    return list(importlib.import_module(f"faults.breaks.{part}").cases(seed, quick))


def run_part(part: str, seed: int, quick: bool, only: str, tally: Tally) -> None:
    """Run its cases, count them, print what breaks."""
    selected = [case for case in cases(part, seed, quick) if only in f"{case.row}: {case.name}"]
    # Two processes of `warm` have to import everything twice.
    with ThreadPoolExecutor(1 if quick and PARTS[part] == 2 else PARTS[part]) as pool:
        for case, breaches in zip(selected, pool.map(attack, selected), strict=True):
            if isinstance(breaches, NotTriedError):
                tally.not_tried.setdefault(str(breaches), Counter())[case.row] += 1
                continue
            tally.tried[case.row] += case.tries
            tally.broken[case.row] += min(case.tries, len(breaches))
            for breach in breaches:
                chosen = shlex.quote(f"{case.row}: {case.name}")
                how = f"--parts {part} --seed {seed}{' --quick' * quick} --only {chosen}"
                tally.breaks.append({"row": case.row, "case": case.name, "broke": breach, "again": how})
                print(f"BROKEN  {breach}\n        {how}", flush=True)


def attack(case: Case) -> list[str] | NotTriedError:
    """What one case breaks, in a folder that is removed afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="iosonde-breaks-", dir="/var/tmp")).resolve()
    folder.chmod(0o755)
    try:
        return case.attack(folder)
    except NotTriedError as error:
        return error
    except Exception:
        return [f"the harness failed: {traceback.format_exc()[-1500:]}"]
    finally:
        remove(folder)


def remove(folder: Path) -> None:
    """What a case left, but nothing that is mounted there."""
    for line in reversed(Path("/proc/self/mountinfo").read_text().splitlines()):
        if (place := line.split()[4]).startswith(f"{folder}/"):
            subprocess.run(["umount", "-l", place], capture_output=True, check=False)
    if f" {folder}/" not in Path("/proc/self/mountinfo").read_text():
        shutil.rmtree(folder, ignore_errors=True)


def _cpu_s() -> float:
    """Of this process, its children that have ended and their forks."""
    own = sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own + warm().cpu_s()


def _text(tally: Tally) -> str:
    rows = [HEAD, *tally.rows()]
    width = max(len(row[0]) for row in rows)
    lines = [f"{row[0]:{width}}" + "".join(f"{cell:>8}" for cell in row[1:]) for row in rows]
    return "\n".join(["", *lines, *_not_tried(tally)])


def _markdown(tally: Tally, seed: int) -> str:
    lines = [f"| {' | '.join(HEAD)} |", "|---|---:|---:|---:|"]
    lines += [f"| {' | '.join(row)} |" for row in by_part(tally.rows())]
    words = ["git", "-C", str(DOCS.parent), "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip()
    return "\n".join([*lines, "", f"Seed {seed}, commit {commit}.", *_not_tried(tally), ""])


def by_part(rows: Iterable[list[str]]) -> list[list[str]]:
    """The rows of one part, as ``store: file damaged``, joined to one."""
    parts: dict[str, list[list[str]]] = {}
    for row in rows:
        parts.setdefault(row[0].partition(": ")[0], []).append(row)
    joined = []
    for part, members in parts.items():
        whats = "; ".join(what for row in members if (what := row[0].partition(": ")[2]))
        counts = [str(sum(int(row[column]) for row in members)) for column in range(1, len(HEAD))]
        joined.append([f"{part}: {whats}" if whats else part, *counts])
    return joined


def _not_tried(tally: Tally) -> list[str]:
    every = ((row, count, why) for why, rows in tally.not_tried.items() for row, count in rows.items())
    return [f"not tried: {row} ({count}): {why}" for row, count, why in every]


if __name__ == "__main__":
    main()

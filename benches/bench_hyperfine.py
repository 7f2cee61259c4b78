"""Two commands, by `iosonde run --against` and by hyperfine: what a trial costs, and what it takes to a verdict.

    python benches/bench_hyperfine.py [--quick]

hyperfine times commands on one node, keeps nothing of a run but its time, and gives a ratio with a standard deviation:
whether that is a difference it leaves to its reader. So trials and seconds are compared, and both ratios are shown.
Without it there is a sentence and only our side.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

FEW = 2
A, B = "sleep 0.100", "sleep 0.105"


def ours(*words: str) -> tuple[float, str]:
    """(seconds, stdout) of one command of ours with a store of its own."""
    with tempfile.TemporaryDirectory() as place:
        command = [sys.executable, "-m", "iosonde.cli.main", "run", *words, "--store", str(Path(place) / "store")]
        started = time.monotonic()
        done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=True)
        return time.monotonic() - started, done.stdout


def theirs(*words: str) -> tuple[float, list[dict[str, float]]]:
    """(seconds, results) of hyperfine."""
    with tempfile.TemporaryDirectory() as place:
        kept = Path(place) / "kept.json"
        command = ["hyperfine", "--style", "none", "--export-json", str(kept), *words]
        started = time.monotonic()
        subprocess.run(command, capture_output=True, check=True)
        return time.monotonic() - started, json.loads(kept.read_text())["results"]


def cost(one_run: object, trials: int, rounds: int) -> float:
    """Seconds of a trial of `true`: what more of them take, without what starts and ends a command."""
    assert callable(one_run)
    return median((one_run(FEW + trials) - one_run(FEW)) / trials for _ in range(rounds))


def overhead(trials: int, rounds: int, peer: bool) -> None:
    mine = cost(lambda n: ours("true", "--repetitions", str(n))[0], trials, rounds)
    said = f"iosonde {1e3 * mine:.0f} ms"
    if peer:
        other = cost(lambda n: theirs("--warmup", "0", "--runs", str(n), "true")[0], trials, rounds)
        said += f", hyperfine {1e3 * other:.1f} ms (with its shell)"
    print(f"a trial of `true` on one node: {said}")


def verdict(peer: bool) -> None:
    seconds, text = ours(A, "--against", B, "--json")
    said = json.loads(text)
    ratio = said["ratio"]
    print(f"`{A}` and `{B}`:")
    print(
        f"  iosonde    {2 * said['pairs']:3d} trials, {seconds:5.1f} s: {ratio['value']:.3f} ({ratio['low']:.3f} to "
        f"{ratio['high']:.3f}), {said['verdict']}"
    )
    if not peer:
        return
    seconds, (a, b) = theirs(A, B)
    trials, value = len(a["times"]) + len(b["times"]), b["mean"] / a["mean"]
    error = value * ((a["stddev"] / a["mean"]) ** 2 + (b["stddev"] / b["mean"]) ** 2) ** 0.5
    print(f"  hyperfine  {trials:3d} trials, {seconds:5.1f} s: {value:.3f} ± {error:.3f} (standard deviation)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer trials")
    asked, _ = parser.parse_known_args()
    peer = shutil.which("hyperfine") is not None
    if not peer:
        print("hyperfine is not on PATH, so it is not compared; install it with: apt install hyperfine")
    overhead(20 if asked.quick else 60, 1 if asked.quick else 5, peer)
    verdict(peer)


if __name__ == "__main__":
    main()

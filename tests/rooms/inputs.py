"""``python -m rooms.inputs DIR``: the files that the commands in the rooms are called with; each small, and known."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import corpus_sample
import sample_store
import survey_tree

CHECKOUT = Path(__file__).parents[2]
ROWS = "nodes,size,rate\n" + "".join(
    f"{nodes},{size},{100 * nodes + size + repeat}\n"
    for nodes in (1, 2, 4)
    for size in (1, 2, 4)
    for repeat in range(3)
)
_SWEEP = """
name: sizes
target: ./target
factors: {bs: [4KiB, 64KiB]}
repetitions: 3
steps:
  - workload: phases
    phases:
      - name: write
        files: "rank${RANK}"
        steps: [create, {kind: write, transfer_size: "${bs}", size: 128KiB}, close]
"""
_BROKEN = "name: broken\ntarget: ./target\nrepetitions: 1\nsteps: [{command: 'exit 3'}]\n"


def make(root: Path) -> None:
    """Make them all in ``root``, which is not there yet."""
    (root / "target").mkdir(parents=True)
    (root / "runs.csv").write_text(ROWS)
    (root / "sizes.csv").write_text("size,time_us\n" + "".join(f"{2**n},{50 + 2**n / 100}\n" for n in range(10, 22)))
    (root / "sweep.yaml").write_text(_SWEEP)
    shutil.copy(CHECKOUT / "examples/upgrade.yaml", root)
    shutil.copy(CHECKOUT / "tests/golden/fixtures/ior/gen-ior330-shared-3reps-verbose1.txt", root / "ior.txt")
    survey_tree.make(root / "tree", files=30)
    corpus_sample.write(root / "corpus", corpus_sample.corpus(6, 2))
    sample_store.main(str(root / "store"))
    _iosonde(root, "fit runs.csv --response rate --on nodes,size --family linear -o model.json")
    _make_unlike(root)


def _make_unlike(root: Path) -> None:
    """A store of experiments that have nothing in common: a factor in bytes, none, an import, a survey, one that failed
    and one run that is damaged."""
    _iosonde(root, "run true --target target --repetitions 2 --store unlike")
    _iosonde(root, "import ior.txt --store unlike")
    _iosonde(root, "survey ./tree --codecs none --store unlike")
    (root / "broken.yaml").write_text(_BROKEN)
    _iosonde(root, "run broken.yaml --store unlike", 1)
    damaged = sorted((root / "unlike/runs").glob("*/results.parquet"))[0]
    damaged.write_bytes(damaged.read_bytes()[:-20])
    _iosonde(root, "run sweep.yaml --store unlike")


def _iosonde(root: Path, words: str, code: int = 0) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "iosonde.cli.main", *words.split()],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != code:
        raise RuntimeError(f"iosonde {words}: exit code {done.returncode}\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    make(Path(sys.argv[1]))

"""One trial of given steps on local ranks, as tests of several rooms need it."""

from __future__ import annotations

import io

from iosonde.core.types import Trial
from iosonde.importers import read, understand
from iosonde.measure import trial
from iosonde.measure.target.workspace import Workspace
from iosonde.ranks.launch import local


def parse(tool, name, content):
    """What cli gives to a Bench: the importer's view of an output."""
    return understand(read(io.BytesIO(content), name), None if tool == "auto" else tool).runs


def run(target, steps, nodes=1, per_node=1, launcher=None, factors=None, deadline_s=60, idle_s=30.0, keep=None, **more):
    """The Run; ``keep`` sees it while its large outputs are still there."""
    workspace = Workspace.create(target, "test")
    facts = {"machine": {"mount": {"type": "tmpfs"}}}
    bench = trial.Bench(
        "test", tuple(steps), launcher or local.Local(), workspace, facts, 10_000, idle_s, **{"parse": parse, **more}
    )
    cell = {"nodes": nodes, "ranks_per_node": per_node, **(factors or {})}
    try:
        made = trial.run_trial(bench, Trial(4, cell, 2, 0, 7), "run", deadline_s)
        if keep:
            keep(made)
        trial.discard_files(made)
        return made
    finally:
        workspace.remove()


def printed(run, stage="step"):
    """Step number → rank → what was printed, of a Run."""
    found: dict = {}
    for name, content in run.raw.items():
        word, number, _, rank = name.removesuffix(".out").rsplit("-", 3)
        if word == stage:
            found.setdefault(int(number), {})[int(rank)] = content
    return found

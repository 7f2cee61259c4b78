"""Facts of the machine in the last trial, and how to reproduce a page: command lines, seed, versions."""

import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from iosonde.core.message import Message
from iosonde.core.pair_rule import build_pair_rule
from iosonde.core.stored import StoredRun
from iosonde.core.types import Experiment
from iosonde.core.units import format_seconds, format_size
from iosonde.core.words import format_count
from iosonde.page.tables import FactGroup, Reproduce, Section

_MACHINE_TITLES = {
    "host": "Host",
    "cpu": "Processor",
    "memory": "Memory",
    "vm": "Write-back of the kernel",
    "network": "Network",
    "infiniband": "InfiniBand",
    "job": "Batch job",
    "mount": "Mount",
    "filesystem": "File system",
    "quota": "Quota",
    "devices": "Devices",
    "scheduler": "Batch system",
    "lab": "Emulated cluster",
}
_MOST_COMMANDS = 10
# What a lab adds to the command in it: the lab is gone when the page is read.
_FILLED_BY_LAB = ("--target", "--hosts", "--before-reads", "--budget", "--page")


def collect_facts(runs: Sequence[StoredRun]) -> Section[FactGroup]:
    """Collect the facts of the machine in the last trial."""
    machine = runs[-1].facts.get("machine") if runs else None
    if not isinstance(machine, dict):
        return Section(missing=(Message("no-facts", "No facts of the machine are stored with these runs."),))
    if structure := runs[-1].structure:
        machine = {**machine, "filesystem": {**(machine.get("filesystem") or {}), "structure": structure}}
    titles = list(_MACHINE_TITLES)
    groups = [
        FactGroup(_MACHINE_TITLES.get(name, str(name)), tuple(flatten_facts(value)))
        for name, value in sorted(
            machine.items(), key=lambda item: titles.index(item[0]) if item[0] in titles else len(titles)
        )
        if value
    ]
    differing = sum(
        get_nested(run.facts, "machine", "host", "boot_id") != get_nested(machine, "host", "boot_id") for run in runs
    )
    why = (f"Last trial; {format_count(differing, 'trial')} ran after another boot or on another machine.",)
    return Section(tuple(group for group in groups if group.rows), why if differing else ())


def flatten_facts(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield nested facts as (name, text), sizes with units; unknown ones are omitted."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from flatten_facts(item, f"{name} {key}".strip())
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        for number, item in enumerate(value):
            label = str(item.get("name", number)) if isinstance(item, dict) else str(number)
            rest = {key: entry for key, entry in item.items() if key != "name"} if isinstance(item, dict) else item
            yield from flatten_facts(rest, f"{name} {label}".strip())
    elif value not in (None, "", []):
        yield _format_fact(name, value)


def _format_fact(name: str, value: Any) -> tuple[str, str]:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if number and name.endswith("_bytes") and not name.endswith("mtu_bytes"):
        name, value = name.removesuffix("_bytes"), format_size(value)
    elif number and name.endswith("_s") and not name.endswith("_per_s"):
        name, value = name.removesuffix("_s"), format_seconds(value)
    elif isinstance(value, list):
        value = ", ".join(map(str, value))
    return name.replace("_", " "), str(value)


def get_nested(value: Any, *keys: str) -> Any:
    """Return value[a][b]…, None if a key is absent."""
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def build_reproduction(runs: Sequence[StoredRun], seed: int | None, store: str, command: Sequence[str]) -> Reproduce:
    """Return the command lines (none for a table in memory), the seed, the versions."""
    last = runs[-1] if runs else StoredRun({})
    if runs and all(run.imported for run in runs):
        seed = None  # imported runs have no drawn order
        commands = _list_tool_commands(runs)
    else:
        commands = _build_repeat_command(last, seed)
    commands += [("Make this page", shlex.join(command))] if command else []
    facts = [("seed of the order", str(seed))] if seed is not None else []
    facts += (dict(flatten_facts(last.versions)) | dict(flatten_facts(last.facts.get("software") or {}))).items()
    ids = dict.fromkeys(run.experiment for run in runs)
    return Reproduce(tuple(commands), (*facts, ("experiment", ", ".join(ids) or "none"), ("store", store)))


def _build_repeat_command(last: StoredRun, seed: int | None) -> list[tuple[str, str]]:
    """Return our command line of the last run, with its seed."""
    if last.imported:
        return []
    measured = [str(word) for word in last.facts.get("command") or []][1:]
    if measured[:1] == ["run"] and get_nested(last.facts, "machine", "lab"):
        measured = ["lab", *_remove_options(measured, _FILLED_BY_LAB)]
    if measured and seed is not None and "--seed" not in measured:
        measured += ["--seed", str(seed)]
    return [("Measure the same again, in the same order", shlex.join(["iosonde", *measured]))] if measured else []


def _remove_options(words: Sequence[str], options: Collection[str]) -> list[str]:
    """Return a command line without these options and their values."""
    remaining: list[str] = []
    is_value = False
    for word in words:
        is_removed = is_value or word.partition("=")[0] in options
        is_value = not is_value and word in options
        remaining += [] if is_removed else [word]
    return remaining


def describe_unfinished(experiment: Experiment, runs: Sequence[StoredRun]) -> str:
    """Say how many trials of a campaign were measured; '' for all of them, for imported runs, and for pairs, which end
    with their verdict."""
    if build_pair_rule(experiment) is not None:
        return ""
    n_done = sum(run.experiment == experiment.id and not run.imported for run in runs)
    if not 0 < n_done < len(experiment.trials):
        return ""
    template = "{n_done} of {n_planned} trials were measured: the same command goes on"
    return Message("unfinished-campaign", template, n_done=n_done, n_planned=len(experiment.trials))


def _list_tool_commands(runs: Sequence[StoredRun]) -> list[tuple[str, str]]:
    """Return the other tools' command lines, as their outputs print them."""
    commands = list(dict.fromkeys(str(run.facts["command"]) for run in runs if run.facts.get("command")))
    which = [f" {place} of {len(commands)}" if len(commands) > 1 else "" for place in range(1, len(commands) + 1)]
    pairs = zip(which[:_MOST_COMMANDS], commands[:_MOST_COMMANDS], strict=True)
    return [(f"Command{place}, as the tool printed it", text) for place, text in pairs]

"""Facts about the system that differ between the runs before and after a change."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from iosonde.core.stored import StoredRun

# Runs on each side of the change: a fact that varies among them is not what changed there.
_NEAR = 5
_MOST = 8  # listed facts
# They change with every run, or repeat the commit of the subject.
_NOT_OF_THE_SYSTEM = ("host.uptime_s", "host.boot_id", "scheduler", "lab", "condition", "quota")


@dataclass(frozen=True)
class FactChange:
    """A fact by its name, with its values in the last runs before a change and the first after it."""

    name: str
    before: str
    after: str

    def to_json(self) -> dict[str, str]:
        """Return the stable JSON form."""
        return {"name": self.name, "before": self.before, "after": self.after}


def find_changed_facts(before: Sequence[StoredRun], after: Sequence[StoredRun]) -> tuple[FactChange, ...]:
    """Return the facts that are constant in the runs next to the change on each side, but differ between the sides."""
    sides = [[dict(_list_facts(run)) for run in runs] for runs in (before[-_NEAR:], after[:_NEAR])]
    if not all(sides):
        return ()
    names = [name for name in sides[0][-1] if name in sides[1][0]]
    changes = []
    for name in names:
        was, now = ({facts.get(name) for facts in side} for side in sides)
        if len(was) == len(now) == 1 and was != now:
            changes.append(FactChange(name, str(*was), str(*now)))
    return tuple(changes[:_MOST])


def _list_facts(run: StoredRun) -> Iterator[tuple[str, str]]:
    """Iterate over versions first, then facts about the machine and the file system."""
    yield "source", run.source
    yield from ((f"version of {name}", str(value)) for name, value in run.versions.items())
    for phase in run.phases:
        yield f"tool of {phase.name}", ", ".join(phase.tool_versions)
    yield from ((f"option {name}", str(value)) for name, value in run.live_options.items())
    yield "hosts", ", ".join(map(str, run.facts.get("hosts") or ()))
    if "kernel" in run.facts:
        yield "kernel", str(run.facts["kernel"])
    for name, value in _iterate_leaves(run.facts.get("machine") or {}):
        if not name.startswith(_NOT_OF_THE_SYSTEM):
            yield name, value


def _iterate_leaves(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Iterate over every text and number of a document with its path: ``mount.options``."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _iterate_leaves(item, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list) and not all(isinstance(element, (str, int, float)) for element in value):
        for place, item in enumerate(value):
            yield from _iterate_leaves(item, f"{name}.{place}")
    else:
        yield name, ", ".join(map(str, value)) if isinstance(value, list) else str(value)

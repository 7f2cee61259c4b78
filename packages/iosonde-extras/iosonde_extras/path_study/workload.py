"""A cell of the path study: the same access repeatedly, each by the path through the system that caches, read-ahead and
write-behind determine.

Kunkel, "Analysis of Input/Output Phenomena using Statistics and Machine Learning" (2017): access size × place in memory
× place in file × read or write × where the data is. Positions are computed before the clock is read, the first
operation is kept like the others, and random positions cover the whole file. Pure functions: the parent and every rank
compute the same plan.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from iosonde.core.errors import InputError
from iosonde.core.units import parse_seconds, parse_size
from iosonde.core.workload import Device, Files, Pattern, Phase, Step
from iosonde.measure.workloads.phase_plan import BANDWIDTH, PhasePlan
from iosonde.measure.workloads.settings import SettingError, check_choice, read_count

from .names import CACHED, DISCARD, FIRST, OPERATION, READ, READ_STATES, UNCACHED, WRITE, WRITE_STATES

NEAR = 8 * 2**20
MEMORY = ("off0", "seq", "rnd")
PLACES: dict[str, Pattern] = {
    "off0": "off0",
    "seq": "seq",
    "rnd": "rnd",
    "rnd8": {"rnd_near": {"distance": NEAR}},
    "stride8": {"stride": {"hole": NEAR, "jitter": NEAR}},
    "reverse": "reverse",
}
MACHINES = ("two-components", "read-ahead", "write-behind", "stripe", "lock", "small-cache")
# State of the data when the phase begins, for a scripted machine.
_MACHINE_STATES = {FIRST: "none", DISCARD: DISCARD, UNCACHED: UNCACHED}

_MAKE_TRANSFER = 4 * 2**20
_MOST_ACCESS = 2**30


@dataclass(frozen=True)
class Settings:
    """Sizes in bytes, times in s. ``operations`` limits the operations, ``bytes`` the moved data, ``time_limit`` the
    time; a randomly accessed file has ``bytes`` bytes. ``memory_size``: the region that memory patterns walk over.
    ``machine``: a scripted machine instead of the target (``read-ahead``, or a mapping with its kind and its own keys).
    """

    access_size: int = 4096
    memory: str = "off0"
    place: str = "seq"
    direction: str = READ
    state: str = CACHED
    operations: int = 10_000
    bytes: int = 2**30
    time_limit: float = 60.0
    memory_size: int = 64 * 2**20
    machine: str | Mapping[str, Any] = ""

    def __post_init__(self) -> None:
        for name in ("access_size", "bytes", "memory_size", "operations"):
            object.__setattr__(self, name, read_count(name, getattr(self, name), size=name != "operations"))
        for name, choices in (("memory", MEMORY), ("place", PLACES), ("direction", (READ, WRITE))):
            check_choice(name, getattr(self, name), tuple(choices))
        check_choice("state", self.state, READ_STATES if self.direction == READ else WRITE_STATES)
        if max(self.access_size, 1) > min(self.bytes, _MOST_ACCESS):
            raise SettingError(
                ("access_size",),
                "out-of-range",
                "an access of {access_size} B exceeds bytes",
                "make bytes larger, or access_size smaller",
                access_size=self.access_size,
            )
        try:
            object.__setattr__(self, "time_limit", parse_seconds(self.time_limit))
        except InputError as error:
            raise SettingError.from_error(("time_limit",), error, "time_limit") from None
        if self.machine:
            object.__setattr__(self, "machine", _read_machine(self.machine))

    def to_json(self) -> dict[str, Any]:
        """Return plain values, for run.json and for the ranks."""
        return asdict(self)

    @property
    def count(self) -> int:
        """Operations of one rank."""
        return max(1, min(self.operations, self.bytes // self.access_size))

    @property
    def extent(self) -> int:
        """Bytes of the file: those of one pass from end to end, or all of ``bytes`` if accesses go anywhere."""
        if self.place == "off0":
            return self.access_size
        return self.count * self.access_size if self.place in ("seq", "reverse") else self.bytes

    @property
    def uses_files(self) -> bool:
        """Return whether the target holds any file."""
        return not self.machine and self.state != DISCARD


def bytes_needed(settings: Settings, ranks: int) -> int:
    """Return the maximum bytes of one trial on the target at once."""
    return ranks * settings.extent if settings.uses_files else 0


def files_needed(settings: Settings, ranks: int) -> int:
    """Return the maximum files and directories of one trial on the target at once."""
    return 2 * ranks if settings.uses_files else 0


def bytes_moved(settings: Settings, ranks: int) -> int:
    """Return the bytes written and read by one trial over all ranks, including the making of the file."""
    if settings.machine:
        return 0
    created_bytes = settings.extent if settings.uses_files and settings.state != FIRST else 0
    warmed = created_bytes if settings.state == CACHED else 0
    return ranks * (settings.count * settings.access_size + created_bytes + warmed)


def bytes_written(settings: Settings, ranks: int) -> int:
    """Return the bytes written by one trial."""
    if settings.machine:
        return 0
    created_bytes = settings.extent if settings.uses_files and settings.state != FIRST else 0
    return ranks * (created_bytes + (settings.count * settings.access_size if settings.direction == WRITE else 0))


def files_touched(settings: Settings, ranks: int) -> int:
    """Return how often a trial creates, opens or removes a file."""
    return 3 * ranks if settings.uses_files else 0


def plan(settings: Settings, rank: int, ranks: int, shift: int) -> list[PhasePlan]:
    """Return the phases of ``rank`` out of ``ranks``, in order; every rank has its own file."""
    files = Files(f"rank{rank:05d}/study", 1)
    if not settings.uses_files:
        return [_plan_access(settings, files)]
    return [*_plan_make(settings, files), _plan_access(settings, files)]


def _plan_make(settings: Settings, files: Files) -> list[PhasePlan]:
    """Plan the file in its state: empty for a first write, else complete and on the device, and cached if required. Its
    cache state is verified before the accesses (``PhasePlan.reads``)."""
    if settings.state == FIRST:
        return [PhasePlan("make_file", Phase("make_file", files, (Step("create"), Step("close"))), timed=False)]
    transfer = min(_MAKE_TRANSFER, settings.extent)
    fill = Step(WRITE, transfer_size=transfer, size=settings.extent, offsets="seq")
    steps = (Step("create"), fill, Step("fsync"), Step("close"))
    plans = [PhasePlan("make_file", Phase("make_file", files, steps), timed=False)]
    if settings.state != UNCACHED:
        again = Step(READ, transfer_size=transfer, size=settings.extent, offsets="seq")
        warm = Phase("warm_up", files, (Step("open"), again, Step("close")))
        plans.append(PhasePlan("warm_up", warm, timed=False))
    return plans


def _plan_access(settings: Settings, files: Files) -> PhasePlan:
    distance = {"rnd_near": {"distance": max(NEAR, settings.access_size)}}
    offsets = distance if settings.place == "rnd8" else PLACES[settings.place]
    nowhere = Device("zero" if settings.direction == READ else "null")
    step = Step(
        settings.direction,
        transfer_size=settings.access_size,
        size=settings.extent,
        count=settings.count,
        offsets=offsets,
        memory=settings.memory,
    )
    phase = Phase(
        OPERATION,
        nowhere if settings.state == DISCARD else files,
        (step,),
        time_limit_ns=round(settings.time_limit * 1e9),
        memory_size=settings.access_size if settings.memory == "off0" else _compute_region(settings),
    )
    has_content = settings.uses_files and settings.state != FIRST
    return PhasePlan(
        OPERATION,
        phase,
        BANDWIDTH,
        settings.direction,
        reads=(files,) if has_content else (),
        warm=settings.state != UNCACHED,
        backend={"name": "fake", "machine": _script_machine(settings)} if settings.machine else {"name": "posix"},
    )


def _compute_region(settings: Settings) -> int:
    """Return whole accesses, at least two: a region of one would be the same buffer again."""
    return max(settings.memory_size // settings.access_size, 2) * settings.access_size


def _script_machine(settings: Settings) -> dict[str, Any]:
    state = _MACHINE_STATES.get(settings.state, CACHED)
    assert isinstance(settings.machine, Mapping)
    return {**settings.machine, "state": state, "file_size": settings.extent}


def _read_machine(spec: str | Mapping[str, Any]) -> dict[str, Any]:
    """Read a machine for the engine. Raises SettingError."""
    fields = {"kind": spec} if isinstance(spec, str) else dict(spec) if isinstance(spec, Mapping) else {}
    kind = str(fields.get("kind")).replace("_", "-")
    check_choice("machine", kind, MACHINES)
    try:
        sizes = {
            key: parse_size(value) if isinstance(value, str) else value
            for key, value in fields.items()
            if key != "kind"
        }
    except InputError as error:
        raise SettingError.from_error(("machine",), error, "machine") from None
    return {"kind": kind.replace("-", "_"), **sizes}

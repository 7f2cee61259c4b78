"""``ior -a POSIX …`` as phases: write and read, each with its open, its accesses, fsync (``-e``) and close.

Offsets are IOR's (src/ior.c, WriteOrRead): in a file per process the segments lie one after the other; in the shared
file segment s of rank r is block s × ranks + r. ``-z`` makes every transfer once, in an order drawn from a seed; in the
shared file the transfers are dealt to the ranks at random, as in IOR.
"""

import random
from dataclasses import asdict, dataclass
from pathlib import PurePath
from typing import Any

from iosonde.core.errors import InputError
from iosonde.core.message import Message
from iosonde.core.vocabulary import IOR
from iosonde.core.workload import Files, Phase, Step
from iosonde.measure.workloads.phase_plan import BANDWIDTH, PhasePlan
from iosonde.measure.workloads.translation import Translation

from .command_options import Support, read
from .workload_settings import read_settings

# Limit of steps, if every transfer (or segment) needs its own.
MOST_STEPS = 65_536


@dataclass(frozen=True)
class Settings:
    """Settings of one run of IOR. Sizes in bytes, ``block_size`` and ``segments`` per task.

    ``shift``: distance in nodes from a task to its reader (0: it reads its own, -C); ``random_reader`` (-Z) draws it.
    ``cache`` is ``warm`` (left as it is, as in IOR) or ``cold`` (dropped before the read phase).
    """

    transfer_size: int = 262144
    block_size: int = 1048576
    segments: int = 1
    file_per_process: bool = False
    write: bool = True
    read: bool = True
    check_write: bool = False
    verify: bool = False
    fsync: bool = False
    fsync_per_write: bool = False
    random_order: bool = False
    shift: int = 0
    random_reader: bool = False
    direct: bool = False
    unique_directories: bool = False
    cache: str = "warm"
    seed: int = 0

    def __post_init__(self) -> None:
        read_settings(self)
        if self.transfer_size < 1 or self.segments < 1 or self.block_size < self.transfer_size:
            raise InputError(
                "out-of-range", "ior: -t, -b and -s must be at least 1, and -b not below -t", "as -t 1m -b 16m -s 1"
            )
        if self.block_size % self.transfer_size:
            raise InputError(
                "not-a-multiple",
                "ior: the block (-b, {block_size} B) is not a multiple of the transfer (-t, {transfer_size} B)",
                "choose -b as a multiple of -t",
                block_size=self.block_size,
                transfer_size=self.transfer_size,
            )
        steps = self.segments * (self.block_size // self.transfer_size if self._is_single else 1)
        if steps > MOST_STEPS and (self._is_single or not self._is_regular):
            raise InputError(
                "too-many-steps",
                "ior: {steps} separately placed transfers or segments of a task are more than {limit}",
                "choose fewer segments (-s), or larger transfers (-t)",
                steps=steps,
                limit=MOST_STEPS,
            )

    @property
    def _is_single(self) -> bool:
        """Return whether each transfer is a step of its own."""
        return self.random_order or self.fsync_per_write

    @property
    def _is_regular(self) -> bool:
        return self.file_per_process or self.segments == 1 or self.block_size == self.transfer_size

    def to_json(self) -> dict[str, Any]:
        """Return plain values, for run.json and for the ranks."""
        return asdict(self)


def bytes_needed(settings: Settings, ranks: int) -> int:
    """Return the bytes of one trial on the target at once."""
    return settings.block_size * settings.segments * ranks


def files_needed(settings: Settings, ranks: int) -> int:
    """Return the number of files and directories."""
    own = ranks if settings.file_per_process else 1
    return own + 2 + (ranks if settings.unique_directories else 0)


def bytes_moved(settings: Settings, ranks: int) -> int:
    """Return the bytes written and read by one trial; data that is read has to be written first."""
    return bytes_needed(settings, ranks) * (1 + settings.read + settings.check_write)


def bytes_written(settings: Settings, ranks: int) -> int:
    """Return the bytes written by one trial."""
    return bytes_needed(settings, ranks)


def files_touched(settings: Settings, ranks: int) -> int:
    """Return how often a trial creates, opens or removes a file."""
    return ranks * (2 + settings.read + settings.check_write)


def plan(settings: Settings, rank: int, ranks: int, shift: int) -> list[PhasePlan]:
    """Return the phases of ``rank``; every rank has the same number of them."""
    plans = [_plan_phase(settings, "write", rank, rank, ranks, timed=settings.write)]
    if settings.check_write:
        other = (rank + (settings.shift + 1) * max(shift, 1)) % ranks if settings.shift else rank
        plans.append(_plan_phase(settings, "check_write", other, rank, ranks, timed=False))
    if settings.read:
        plans.append(
            _plan_phase(settings, "read", _choose_source(settings, rank, ranks, shift), rank, ranks, timed=True)
        )
    return plans


def _choose_source(settings: Settings, rank: int, ranks: int, shift: int) -> int:
    """Return the rank whose data this rank reads. ``shift`` reaches the next node."""
    if settings.random_reader:
        away = settings.shift * max(shift, 1)
        return (rank + random.Random(f"{settings.seed} {rank}").randrange(min(away, ranks - 1), ranks)) % ranks
    return (rank + settings.shift * max(shift, 1)) % ranks


def _plan_phase(settings: Settings, name: str, data_of: int, rank: int, ranks: int, timed: bool) -> PhasePlan:
    kind = "write" if name == "write" else "read"
    if settings.file_per_process:
        folder = f"ior/{data_of:08d}" if settings.unique_directories else "ior"
        files = Files(f"{folder}/testFile.", 1, first=data_of)
    else:
        files = Files("ior/testFile.", 1)
    data = _build_accesses(settings, kind, data_of, ranks)
    last = (Step("fsync"),) if settings.fsync and kind == "write" else ()
    steps = (Step("create" if kind == "write" else "open"), *data, *last, Step("close"))
    phase = Phase(
        name,
        files,
        steps,
        open_flags=("direct",) if settings.direct else (),
        verify=settings.verify or settings.check_write,
    )
    shared = not settings.file_per_process
    distinct = bytes_needed(settings, ranks) if shared else 0
    reads = (files,) if kind == "read" else ()
    return PhasePlan(name, phase, BANDWIDTH, kind, timed, reads, shared=shared, distinct_bytes=distinct)


def _build_accesses(settings: Settings, kind: str, rank: int, ranks: int) -> tuple[Step, ...]:
    block, transfer, segments = settings.block_size, settings.transfer_size, settings.segments
    if settings._is_single:
        steps = [Step(kind, transfer, base=at, size=transfer) for at in _list_offsets(settings, rank, ranks)]
        if settings.fsync_per_write and kind == "write":
            return tuple(step for access in steps for step in (access, Step("fsync")))
        return tuple(steps)
    if settings.file_per_process or segments == 1:
        base = 0 if settings.file_per_process else rank * block
        return (Step(kind, transfer, base=base, size=block * segments, offsets="seq"),)
    if block == transfer:
        stride = {"stride": {"hole": (ranks - 1) * block}}
        size = ((segments - 1) * ranks + 1) * block
        return (Step(kind, transfer, base=rank * block, size=size, count=segments, offsets=stride),)
    return tuple(
        Step(kind, transfer, base=(segment * ranks + rank) * block, size=block, offsets="seq")
        for segment in range(segments)
    )


def _list_offsets(settings: Settings, rank: int, ranks: int) -> list[int]:
    """Return the offset of each transfer, in order: the same order in every segment, as in IOR."""
    block, transfer = settings.block_size, settings.transfer_size
    if settings.file_per_process:
        inside, span = list(range(0, block, transfer)), block
    elif settings.random_order:
        deal = random.Random(settings.seed)
        inside = [at for at in range(0, block * ranks, transfer) if deal.randrange(ranks) == rank]
        span = block * ranks
    else:
        inside, span = list(range(rank * block, (rank + 1) * block, transfer)), block * ranks
    if settings.random_order:
        random.Random(f"{settings.seed} {rank}").shuffle(inside)
    return [segment * span + at for segment in range(settings.segments) for at in inside]


_TEXT = "it changes IOR's output, not its work"
_SUPPORT = Support(
    names="a b i o O Q s t X random-offset-seed B C e F r R u w W Y z Z",
    ignored={
        **dict.fromkeys("Ajv", _TEXT),
        "k": "the read phase finds the file; iosonde removes its files after a measurement",
        "K": "iosonde removes its files after a measurement",
        "m": "every repetition has its own files anyway",
        "x": "a short transfer is an error here, and is not retried",
        "l": "written data is incompressible here, different in every transfer",
        "G": "verification here uses the experiment's seed",
    },
    cannot={
        "c": "POSIX has no collective calls",
        "d": "trials follow each other without a fixed delay",
        "D": "a time limit would end the phase before its fsync and close",
        "E": "every repetition has new files",
        "f": "a script holds several tests: give one command line",
        "g": "phases have no barrier between open, access and close",
        "M": "iosonde does not hog memory; {spell.cache} and {spell.before_reads} exclude caches",
        "N": "{spell.nodes} and {spell.ranks_per_node} set the number of tasks",
        "T": "{spell.budget} ends a campaign",
        "y": "there is one target",
    },
)
_QUIET = ("summaryformat", "summaryfile", "saverankperformancedetailscsv", "saveperopdatacsv", "verbose")


def translate(words: list[str]) -> Translation:
    """Translate IOR's options. Raises InputError."""
    options = read(IOR, words, _SUPPORT)
    if options.text("-a", "POSIX").upper() != "POSIX":
        options.refuse("-a", "the engine does POSIX calls, not {api}", api=options.text("-a"))
    for directives in options.values.get("-O", ()):
        for directive in directives.split(","):
            if directive.partition("=")[0].lower() not in _QUIET:
                options.refuse(f"-O {directive.partition('=')[0]}", "unknown here")
    if options.times("-z") > 1:
        options.refuse("-z -z", "offsets that may overlap")
    if options.has("-C") and options.has("-Z"):
        options.refuse("-C -Z", "IOR allows one of them")
    if options.has("-Z") and options.has("-z") and not options.has("-F"):
        options.refuse("-Z -z", "IOR allows both with -F only")
    if options.times("-Z") > 1:
        options.refuse("-Z -Z", "a shuffle of all tasks")
    options.check()
    has_operation = any(options.has(name) for name in ("-w", "-r", "-R", "-W"))
    read_back = options.has("-r") or options.has("-R") or not has_operation
    settings = Settings(
        transfer_size=options.size("-t", 262144),
        block_size=options.size("-b", 1048576),
        segments=options.size("-s", 1),
        file_per_process=options.has("-F"),
        write=options.has("-w") or not has_operation,
        read=read_back,
        check_write=options.has("-W"),
        verify=options.has("-R"),
        fsync=options.has("-e"),
        fsync_per_write=options.has("-Y"),
        random_order=options.has("-z"),
        shift=options.number("-Q", 1) if options.has("-C") or options.has("-Z") else 0,
        random_reader=options.has("-Z"),
        direct=options.has("-B") or options.has("--posix.odirect"),
        unique_directories=options.has("-u") and options.has("-F"),
        seed=options.number("--random-offset-seed", options.number("-X", 0)),
    )
    path = options.text("-o")
    return Translation(
        workload="ior",
        settings=settings,
        repetitions=options.number("-i", 1) if options.has("-i") else None,
        target=str(PurePath(path).parent) if path else None,
        ignored=tuple(options.ignored.items()),
        notes=_list_notes(settings),
    )


def _list_notes(settings: Settings) -> tuple[str, ...]:
    notes = []
    if not settings.write:
        notes.append(Message("untimed-write", "the file to read is written before, outside the clock"))
    if settings.random_order or settings.random_reader:
        notes.append(
            Message(
                "own-random-order",
                "orders and readers are drawn by our own generator from seed {seed}, not by IOR's",
                seed=settings.seed,
            )
        )
    return tuple(notes)

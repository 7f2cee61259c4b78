"""``iozone -t N -i 0 -i 1 …`` (throughput mode), or one process with ``-s`` and ``-r``, as phases of each test.

Each process has its own file and goes through it record by record. IOzone flushes a written file after its clock has
stopped (with ``-e`` before): here the fsync is in every writing phase and in the record, and IOzone's definition
includes or excludes it. Random tests access every record once, in an order drawn from a seed.
"""

import random
from dataclasses import asdict, dataclass
from pathlib import PurePath
from typing import Any

from iosonde.core.errors import InputError
from iosonde.core.message import Message
from iosonde.core.vocabulary import IOZONE
from iosonde.core.workload import Files, Phase, Step
from iosonde.measure.workloads.phase_plan import BANDWIDTH, PhasePlan
from iosonde.measure.workloads.translation import Translation

from .command_options import ParsedOptions, Support, read
from .workload_settings import check_words, read_settings

MOST_STEPS = 65_536
# Number of -i → the tests in order (name, kind).
TESTS = {
    0: (("write", "write"), ("rewrite", "write")),
    1: (("read", "read"), ("reread", "read")),
    2: (("random_read", "read"), ("random_write", "write")),
    3: (("backward_read", "read"),),
    4: (("record_rewrite", "write"),),
    5: (("stride_read", "read"),),
}
_AGAIN = ("rewrite", "reread")
_KINDS = {name: kind for tests in TESTS.values() for name, kind in tests}


@dataclass(frozen=True)
class Settings:
    """Settings of one run of IOzone. Sizes in bytes, per process. ``inside``: which of fsync and close its clock
    includes (-e, -c); it changes the definition of IOzone's number, not the work. ``cache`` is ``warm`` (left as it is,
    as in IOzone) or ``cold`` (dropped before each reading test).
    """

    file_size: int = 512 * 1024
    record_size: int = 4096
    tests: tuple[str, ...] = ("write", "rewrite", "read", "reread")
    stride: int = 17
    inside: tuple[str, ...] = ()
    synchronous: bool = False
    direct: bool = False
    verify: bool = False
    cache: str = "warm"
    seed: int = 0

    def __post_init__(self) -> None:
        read_settings(self)
        check_words("tests", self.tests, tuple(_KINDS))
        check_words("inside", self.inside, ("fsync", "close"))
        if self.record_size < 1 or self.file_size < self.record_size or self.file_size % self.record_size:
            raise InputError(
                "not-a-multiple",
                "iozone: the file (-s, {file_size} B) is not a multiple of the record (-r, {record_size} B)",
                "choose -s as a multiple of -r; numbers without a letter are in KiB",
                file_size=self.file_size,
                record_size=self.record_size,
            )
        if self.file_size // self.record_size > MOST_STEPS and any(name.startswith("random") for name in self.tests):
            raise InputError(
                "too-many-steps",
                "iozone: -i 2 with more than {limit} records in a file",
                "choose larger records or smaller files",
                limit=MOST_STEPS,
            )
        if self.stride < 1:
            raise InputError("out-of-range", "iozone: -j must be at least 1", "write it like -j 17")

    def to_json(self) -> dict[str, Any]:
        """Return plain values, for run.json and for the ranks."""
        return asdict(self) | {"tests": list(self.tests), "inside": list(self.inside)}


def bytes_needed(settings: Settings, ranks: int) -> int:
    """Return the bytes of one trial on the target at once."""
    return settings.file_size * ranks


def files_needed(settings: Settings, ranks: int) -> int:
    """Return the number of files and directories."""
    return ranks + 2


def bytes_moved(settings: Settings, ranks: int) -> int:
    """Return the bytes written and read by one trial."""
    return settings.file_size * ranks * (len(settings.tests) + ("write" not in settings.tests))


def bytes_written(settings: Settings, ranks: int) -> int:
    """Return the bytes written by one trial."""
    written = sum(_KINDS[name] == "write" for name in settings.tests) + ("write" not in settings.tests)
    return settings.file_size * ranks * written


def files_touched(settings: Settings, ranks: int) -> int:
    """Return how often a trial creates, opens or removes a file."""
    return ranks * (len(settings.tests) + 2)


def plan(settings: Settings, rank: int, ranks: int, shift: int) -> list[PhasePlan]:
    """Return the phases of ``rank``. IOzone's processes read their own files: ``shift`` is not used."""
    plans = [] if "write" in settings.tests else [_plan_test(settings, "write", rank, timed=False)]
    return plans + [_plan_test(settings, name, rank, timed=True) for name in settings.tests]


def _plan_test(settings: Settings, name: str, rank: int, timed: bool) -> PhasePlan:
    kind = _KINDS[name]
    first = Step("create" if name == "write" else "open")
    last = (Step("fsync"), Step("close")) if kind == "write" else (Step("close"),)
    flags = [flag for flag, is_set in (("direct", settings.direct), ("sync", settings.synchronous)) if is_set]
    files = Files("iozone/iozone.DUMMY.", 1, first=rank)
    phase = Phase(
        name,
        files,
        (first, *_build_records(settings, name, kind, rank), *last),
        open_flags=tuple(flags),
        verify=settings.verify,
    )
    return PhasePlan(name, phase, BANDWIDTH, kind, timed, reads=(files,) if kind == "read" else ())


def _build_records(settings: Settings, name: str, kind: str, rank: int) -> tuple[Step, ...]:
    size, record = settings.file_size, settings.record_size
    count = size // record
    if name.startswith("random"):
        places = list(range(count))
        random.Random(f"{settings.seed} {name} {rank}").shuffle(places)
        return tuple(Step(kind, record, base=place * record, size=record) for place in places)
    if name == "record_rewrite":
        return (Step(kind, record, size=record, count=count, offsets="off0"),)
    if name == "stride_read":
        stride = {"stride": {"hole": (settings.stride - 1) * record}}
        sweeps = range(min(settings.stride, count))
        return tuple(
            Step(
                kind,
                record,
                base=at * record,
                size=size - at * record,
                count=-(-(count - at) // settings.stride),
                offsets=stride,
            )
            for at in sweeps
        )
    return (Step(kind, record, size=size, offsets="reverse" if name == "backward_read" else "seq"),)


_TEXT = "it changes IOzone's output, not its work"
_AUTO = "a run has one file size and one record size; an experiment file has factors for series"
_CPU = "ranks are bound to their own cores anyway"
_SUPPORT = Support(
    names="i s r t f F j T c e o I +n +d",
    ignored={
        **dict.fromkeys(("R", "M", "Q", "O", "N", "C", "+u", "+q", "b"), _TEXT),
        "w": "iosonde removes its files after a measurement",
        "x": "the record has both: until the first process ends, and to the end",
        "S": "the processor's cache is not purged",
        "L": "buffers are aligned to 4096 bytes",
        "P": _CPU,
        "+A": "no advice is given to the kernel",
    },
    cannot={
        **dict.fromkeys("aAzngyq", _AUTO),
        **dict.fromkeys("lu", "{spell.nodes:1,2,4} measures a series"),
        **dict.fromkeys("BDGZ", "files are not mapped"),
        **dict.fromkeys("Hk", "no POSIX asynchronous I/O"),
        **dict.fromkeys("XY", "no telemetry files"),
        "+m": "{spell.hosts}, {spell.nodes} and {spell.launcher} set where it runs",
        "E": "no test of its own for pread: the engine always uses it",
        "J": "no computing between records",
        "K": "no jitter of access patterns",
        "m": "one buffer",
        "p": "the processor's cache is not purged",
        "U": "{spell.before_reads:'COMMAND'} remounts",
        "V": "-+d verifies",
        "W": "files are not locked",
        "+r": "no O_RSYNC",
    },
)


def translate(words: list[str]) -> Translation:
    """Translate IOzone's options. Raises InputError."""
    options = read(IOZONE, words, _SUPPORT)
    tests, listed = _choose_tests(options), options.text("-F").split()
    options.check()
    inside = tuple(name for flag, name in (("-e", "fsync"), ("-c", "close")) if options.has(flag))
    settings = Settings(
        file_size=options.size("-s", 512 * 1024, unit=1024),
        record_size=options.size("-r", 4096, unit=1024),
        tests=tests,
        stride=options.number("-j", 17),
        inside=inside,
        synchronous=options.has("-o"),
        direct=options.has("-I"),
        verify=options.has("-+d"),
    )
    path = listed[0] if listed else options.text("-f")
    if len({str(PurePath(name).parent) for name in listed}) > 1:
        raise InputError(
            "too-many-directories", "iozone -F: the files lie in several directories", "give a single target"
        )
    return Translation(
        workload="iozone",
        settings=settings,
        repetitions=None,
        target=str(PurePath(path).parent) if path else None,
        ranks=options.number("-t", 1),
        ignored=tuple(options.ignored.items()),
        notes=_list_notes(options, settings),
    )


def _choose_tests(options: ParsedOptions) -> tuple[str, ...]:
    """Return the tests in IOzone's order, whatever the order of the options."""
    numbers = [int(text) if text.isdigit() else -1 for text in options.values.get("-i", ["0", "1"])]
    for number in sorted({number for number in numbers if number not in TESTS}):
        options.refuse(f"-i {number}", "stdio, mixed and pread tests are not supported (0 to 5 are)")
    names = [name for number, tests in TESTS.items() if number in numbers for name, _ in tests]
    return tuple(name for name in names if not (options.has("-+n") and name in _AGAIN))


def _list_notes(options: ParsedOptions, settings: Settings) -> tuple[str, ...]:
    notes = []
    if options.has("-T"):
        notes.append(Message("threads-as-processes", "threads (-T) are processes here"))
    if "write" not in settings.tests:
        notes.append(Message("untimed-write", "the files are written before, outside the clock"))
    if any(name.startswith("random") for name in settings.tests):
        notes.append(Message("own-random-order", "the random order is drawn by our own generator, not by IOzone's"))
    return tuple(notes)

"""Non-contiguous access: pieces of a file with holes between them, by one of four methods.

``naive`` is one read or write for each piece. ``sieve`` moves the pieces by large accesses of ``sieve_buffer`` bytes
that include the holes (docs/workload.md). ``mpiio_independent`` and ``mpiio_collective`` leave it to the MPI library,
with its hints. The question, and the grid of access and hole sizes, are those of Kunkel, "Analysis of I/O Phenomena
using Statistics and Machine Learning" (2017). Pure functions: the parent and every rank compute the same plan.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from iosonde.core.units import format_size
from iosonde.core.workload import Files, MpiIo, Phase, Step

from .phase_plan import BANDWIDTH, PhasePlan
from .settings import SettingError, check_choice, read_count

NAIVE, SIEVE, INDEPENDENT, COLLECTIVE = METHODS = ("naive", "sieve", "mpiio_independent", "mpiio_collective")
SEGMENTED, INTERLEAVED = LAYOUTS = ("segmented", "interleaved")
READ, WRITE = "read", "write"
# Limit of one call of the kernel.
MOST_BYTES = 0x7FFFF000
_MAKE_TRANSFER = 4 * 2**20


@dataclass(frozen=True)
class Settings:
    """Sizes in bytes. ``file_size`` is over all ranks, including holes; each rank has an equal share of the pieces: in
    its own segment, or, ``interleaved``, every R-th piece. ``call_size``: the most that a call of MPI-IO moves.
    ``hints`` are MPI-IO's; unless they set it, ``sieve_buffer`` is the size of its buffers too.
    """

    access_size: int = 64 * 2**10
    hole_size: int = 64 * 2**10
    method: str = NAIVE
    operations: tuple[str, ...] | str = (WRITE, READ)
    sieve_buffer: int = 4 * 2**20
    file_size: int = 64 * 2**20
    layout: str = SEGMENTED
    call_size: int = 16 * 2**20
    hints: Mapping[str, str] = field(default_factory=dict)
    cache: str = "cold"
    verify: bool = False

    def __post_init__(self) -> None:
        for name in ("access_size", "hole_size", "sieve_buffer", "file_size", "call_size"):
            least = 0 if name == "hole_size" else 1
            object.__setattr__(self, name, read_count(name, getattr(self, name), size=True, least=least))
            if name != "file_size" and getattr(self, name) > MOST_BYTES:
                raise SettingError(
                    (name,),
                    "out-of-range",
                    "{name} is {number} B",
                    "it must be at most {maximum} B",
                    name=name,
                    number=getattr(self, name),
                    maximum=MOST_BYTES,
                )
        operations = (self.operations,) if isinstance(self.operations, str) else tuple(self.operations)
        object.__setattr__(self, "operations", operations)
        if not operations or len(set(operations)) < len(operations):
            raise SettingError(
                ("operations",),
                "invalid-operations",
                "operations are {operations}",
                "give {write}, {read}, or both in one list",
                operations=list(operations),
                write=WRITE,
                read=READ,
            )
        for operation in operations:
            check_choice("operations", operation, (READ, WRITE))
        check_choice("method", self.method, METHODS)
        check_choice("layout", self.layout, LAYOUTS)
        check_choice("cache", self.cache, ("cold", "warm"))
        if not isinstance(self.verify, bool):
            raise SettingError(
                ("verify",),
                "not-a-boolean",
                "{name} is {setting!r}",
                "write true or false",
                name="verify",
                setting=self.verify,
            )
        if not isinstance(self.hints, Mapping):
            raise SettingError(
                ("hints",), "not-a-mapping", "hints are {hints!r}", "give names with values", hints=self.hints
            )
        object.__setattr__(self, "hints", _select_hints(self))

    def to_json(self) -> dict[str, Any]:
        """Return plain values, for run.json and for the ranks."""
        return asdict(self) | {"operations": list(self.operations)}

    @property
    def period(self) -> int:
        """Distance from one piece to the next."""
        return self.access_size + self.hole_size


@dataclass(frozen=True)
class Pieces:
    """Pieces of one rank: ``count`` pieces at a distance of ``period`` bytes, the first at ``base``; the holes end at
    ``end``."""

    base: int
    count: int
    period: int
    end: int


def compute_pieces(settings: Settings, rank: int, ranks: int) -> Pieces:
    """Return this rank's pieces; all ranks have the same number. Raises SettingError if it is 0."""
    if settings.layout == SEGMENTED:
        segment = settings.file_size // ranks
        base = rank * segment
        pieces = Pieces(base, _count_fitting(segment, settings), settings.period, base + segment)
    else:
        count = _count_fitting(settings.file_size, settings) // ranks
        pieces = Pieces(rank * settings.period, count, settings.period * ranks, settings.file_size)
    if pieces.count < 1:
        raise SettingError(
            ("file_size",),
            "file-too-small",
            "no piece of {access_size} for each of {ranks} ranks fits into a file of {file_size}",
            "make file_size larger, or access_size and hole_size smaller",
            access_size=format_size(settings.access_size),
            ranks=ranks,
            file_size=format_size(settings.file_size),
        )
    return pieces


def bytes_needed(settings: Settings, ranks: int) -> int:
    """Return the maximum bytes of one trial on the target at once: a file for each operation, including holes."""
    return len(settings.operations) * settings.file_size


def files_needed(settings: Settings, ranks: int) -> int:
    """Return the maximum files and directories of one trial on the target at once."""
    return len(settings.operations) + 2


def bytes_moved(settings: Settings, ranks: int) -> int:
    """Return the bytes written and read by one trial over all ranks, including the making of the files and the holes of
    sieves."""
    useful = ranks * compute_pieces(settings, 0, ranks).count * settings.access_size
    moved = 0
    for operation in settings.operations:
        through = (2 if operation == WRITE else 1) * settings.file_size
        moved += settings.file_size + (through if settings.method == SIEVE else useful)
    return moved


def bytes_written(settings: Settings, ranks: int) -> int:
    """Return the bytes written by one trial."""
    useful = ranks * compute_pieces(settings, 0, ranks).count * settings.access_size
    once = settings.file_size if settings.method == SIEVE else useful
    return len(settings.operations) * settings.file_size + settings.operations.count(WRITE) * once


def files_touched(settings: Settings, ranks: int) -> int:
    """Return how often a trial creates, opens or removes a file."""
    return len(settings.operations) * (3 * ranks + 2)


def plan(settings: Settings, rank: int, ranks: int, shift: int) -> list[PhasePlan]:
    """Return the phases of ``rank`` out of ``ranks``, in order; every rank has the same number of them.

    Each operation has its own file that is complete before: a write changes it, and a read finds no hole of the file
    system.
    """
    pieces = compute_pieces(settings, rank, ranks)
    plans = []
    for operation in settings.operations:
        plans += _plan_make(settings, operation, rank, ranks, shift)
        plans.append(_plan_access(settings, operation, pieces, ranks))
        if operation == WRITE and settings.verify:
            plans += _plan_check(settings, pieces)
    return plans


def _build_files(operation: str) -> Files:
    return Files(f"shared/{operation}", 1)


def _plan_make(settings: Settings, operation: str, rank: int, ranks: int, shift: int) -> list[PhasePlan]:
    """Plan the whole file, in equal parts, each written from another node than the one that works in it, if there are
    several.

    A file that is verified after a write contains zeros before, to show what was written and what was not.
    """
    files, to_check = _build_files(operation), settings.verify and operation == WRITE
    create = Phase(f"create_{operation}_file", files, (Step("create"), Step("close")))
    part = settings.file_size // ranks
    who = (rank - shift) % ranks
    size = part if who < ranks - 1 else settings.file_size - part * (ranks - 1)
    data = Step(WRITE, transfer_size=min(_MAKE_TRANSFER, size), base=who * part, size=size)
    fill = Phase(
        f"make_{operation}_file",
        files,
        (Step("open"), data, Step("fsync"), Step("close")),
        content="zeros" if to_check else "incompressible",
        verify=settings.verify and not to_check,
    )
    return [
        PhasePlan(create.name, create if rank == 0 else None, timed=False),
        PhasePlan(fill.name, fill, timed=False),
    ]


def _plan_access(settings: Settings, operation: str, pieces: Pieces, ranks: int) -> PhasePlan:
    phase = (_build_phase if settings.method in (NAIVE, SIEVE) else _build_mpi_io)(settings, operation, pieces)
    return PhasePlan(
        operation,
        phase,
        BANDWIDTH,
        operation,
        # A write may have to read surrounding data: its cache matters as well.
        reads=(_build_files(operation),),
        distinct_bytes=ranks * pieces.count * settings.access_size,
        counts_moved=True,
    )


def _build_phase(settings: Settings, operation: str, pieces: Pieces) -> Phase:
    sieve = {"buffer": settings.sieve_buffer} if settings.method == SIEVE else None
    data = _build_step(operation, settings.access_size, pieces, sieve)
    ends = (Step("fsync"), Step("close")) if operation == WRITE else (Step("close"),)
    return Phase(operation, _build_files(operation), (Step("open"), data, *ends), verify=settings.verify)


def _build_mpi_io(settings: Settings, operation: str, pieces: Pieces) -> MpiIo:
    return MpiIo(
        operation,
        f"{_build_files(operation).template}000000",
        operation,
        base=pieces.base,
        piece=settings.access_size,
        hole=pieces.period - settings.access_size,
        count=pieces.count,
        per_call=max(1, settings.call_size // settings.access_size),
        collective=settings.method == COLLECTIVE,
        hints=dict(settings.hints),
        verify=settings.verify,
    )


def _plan_check(settings: Settings, pieces: Pieces) -> list[PhasePlan]:
    """Plan the check after a write: this rank's pieces hold what it wrote, the holes after them the earlier data."""
    files = _build_files(WRITE)
    wrote = Phase("check_pieces", files, (_build_step(READ, settings.access_size, pieces),), verify=True)
    last_end = pieces.base + (pieces.count - 1) * pieces.period + settings.period
    hole_count = pieces.count - (last_end > pieces.end)
    holes = Pieces(pieces.base + settings.access_size, hole_count, pieces.period, pieces.end)
    if not settings.hole_size or not hole_count:
        return [PhasePlan(wrote.name, wrote, timed=False)]
    hole_phase = Phase(
        "check_holes", files, (_build_step(READ, settings.hole_size, holes),), content="zeros", verify=True
    )
    return [PhasePlan(wrote.name, wrote, timed=False), PhasePlan(hole_phase.name, hole_phase, timed=False)]


def _build_step(kind: str, length: int, pieces: Pieces, sieve: dict[str, int] | None = None) -> Step:
    return Step(
        kind,
        transfer_size=length,
        base=pieces.base,
        size=(pieces.count - 1) * pieces.period + length,
        offsets={"stride": {"hole": pieces.period - length}},
        sieve=sieve,
    )


def _count_fitting(size: int, settings: Settings) -> int:
    """Return how many pieces fit, the last one without its hole."""
    return 0 if size < settings.access_size else (size - settings.access_size) // settings.period + 1


def _select_hints(settings: Settings) -> dict[str, str]:
    """Return the hints for the library: none for the methods that do not use it."""
    if settings.method in (NAIVE, SIEVE):
        return {}
    buffer = str(settings.sieve_buffer)
    names = ("cb_buffer_size",) if settings.method == COLLECTIVE else ("ind_rd_buffer_size", "ind_wr_buffer_size")
    return dict.fromkeys(names, buffer) | {
        str(name): str(value) for name, value in settings.hints.items() if value not in (None, "")
    }

"""The MTC envelope as phases: open, create, 1-to-1 read, N-to-1 read and write, small files and large ones.

The eight metrics are those of Zhang et al., "MTC Envelope: Defining the Capability of Large Scale Computers in the
Context of Parallel Scripting Applications" (HPDC 2013), as listed in the thesis of Dobrescu-Balau (2014). Operations/s
come from whole small files (open, read, close), bytes/s from large ones. Pure functions: the parent and every rank
compute the same plan from the same settings.
"""

from dataclasses import asdict, dataclass
from typing import Any

from iosonde.core.workload import Files, Phase, Step

from .phase_plan import BANDWIDTH, PhasePlan
from .settings import SettingError, read_count

OTHER_NODE, OTHER_RANK, SAME_RANK = "other_node", "other_rank", "same_rank"


@dataclass(frozen=True)
class Settings:
    """Settings of the envelope; sizes in bytes (``64KiB`` is accepted). ``small_files`` and ``large_files`` are per
    rank."""

    small_files: int = 1000
    small_file_size: int = 4096
    large_files: int = 1
    large_file_size: int = 64 * 2**20
    transfer_size: int = 2**20
    cache: str = "cold"  # before reads: "cold" (fsync, drop, check) or "warm" (leave the cache as it is)
    shared_writes: bool = True
    direct: bool = False
    verify: bool = False

    def __post_init__(self) -> None:
        for name in ("small_files", "small_file_size", "large_files", "large_file_size", "transfer_size"):
            object.__setattr__(self, name, read_count(name, getattr(self, name), size=name.endswith("_size")))
        for name in ("shared_writes", "direct", "verify"):
            if not isinstance(getattr(self, name), bool):
                raise SettingError(
                    (name,),
                    "not-a-boolean",
                    "{name} is {setting!r}",
                    "write true or false",
                    name=name,
                    setting=getattr(self, name),
                )
        if self.large_file_size % self.transfer_size:
            raise SettingError(
                ("large_file_size",),
                "not-a-multiple",
                "the large file ({large_file_size} B) is not a multiple of the transfer size ({transfer_size} B)",
                "choose {spell.large_size} as a multiple of {spell.transfer_size}",
                large_file_size=self.large_file_size,
                transfer_size=self.transfer_size,
            )
        if self.cache not in ("cold", "warm"):
            raise SettingError(
                ("cache",),
                "unknown-cache-regime",
                "cache regime '{cache}' is unknown",
                "use cold or warm",
                cache=self.cache,
            )

    def to_json(self) -> dict[str, Any]:
        """Return plain values, for run.json and for the ranks."""
        return asdict(self)


def bytes_needed(settings: Settings, ranks: int) -> int:
    """Return the maximum bytes of one trial on the target at once, data only."""
    shared = 2 * settings.large_file_size * ranks if settings.shared_writes else 0
    own = settings.small_files * settings.small_file_size + settings.large_files * settings.large_file_size
    return (ranks + 1) * own + shared


def files_needed(settings: Settings, ranks: int) -> int:
    """Return the maximum files and directories of one trial on the target at once."""
    return ranks * (2 * settings.small_files + settings.large_files + 4) + settings.small_files + 8


def bytes_moved(settings: Settings, ranks: int) -> int:
    """Return the bytes written and read by one trial over all ranks, from which its duration is predicted."""
    own = settings.small_files * settings.small_file_size + settings.large_files * settings.large_file_size
    shared_read = settings.large_file_size + settings.small_files * settings.small_file_size
    shared_write = 2 * settings.large_file_size if settings.shared_writes else 0
    return ranks * (2 * own + shared_read + shared_write)


def bytes_written(settings: Settings, ranks: int) -> int:
    """Return the bytes written by one trial."""
    own = settings.small_files * settings.small_file_size + settings.large_files * settings.large_file_size
    return ranks * (own + (2 * settings.large_file_size if settings.shared_writes else 0))


def files_touched(settings: Settings, ranks: int) -> int:
    """Return how often a trial creates, opens or removes a small file: by create, open, write, read, N-to-1 read and
    the removal of both kinds. A single rank makes and removes the shared ones."""
    return (7 * ranks + 2) * settings.small_files


def compute_reader_shift(nodes_of_ranks: list[int]) -> tuple[int, str]:
    """Return how far to shift the files so that each is read by another node than its writer.

    Rank r reads what rank (r + shift) mod R wrote. Returns (shift, OTHER_NODE | OTHER_RANK | SAME_RANK): the relation
    that holds for *every* rank, which is a factor of the trial.
    """
    size = len(nodes_of_ranks)
    for shift in range(1, size):
        if all(nodes_of_ranks[r] != nodes_of_ranks[(r + shift) % size] for r in range(size)):
            return shift, OTHER_NODE
    return (1, OTHER_RANK) if size > 1 else (0, SAME_RANK)


def plan(settings: Settings, rank: int, ranks: int, shift: int) -> list[PhasePlan]:
    """Return the phases of ``rank`` out of ``ranks``, in order; every rank has the same number of them."""
    writer = (rank + shift) % ranks
    return [
        *_plan_metadata(settings, rank, writer),
        *_plan_small_files(settings, rank, writer),
        *_plan_large_files(settings, rank, writer),
        *_plan_n_to_1(settings, rank),
        *(_plan_shared_writes(settings, rank, ranks) if settings.shared_writes else ()),
    ]


def _plan_metadata(settings: Settings, rank: int, writer: int) -> list[PhasePlan]:
    own = Files(f"rank{rank:05d}/empty/f", settings.small_files)
    others = Files(f"rank{writer:05d}/empty/f", settings.small_files)
    return [
        PhasePlan("create", Phase("create", own, (Step("create"), Step("close"))), counted_kind="create"),
        PhasePlan("open", Phase("open", others, (Step("open"), Step("close"))), counted_kind="open"),
    ]


def _plan_small_files(settings: Settings, rank: int, writer: int) -> list[PhasePlan]:
    own = Files(f"rank{rank:05d}/small/f", settings.small_files)
    others = Files(f"rank{writer:05d}/small/f", settings.small_files)
    write = Phase(
        "write_small", own, (Step("create"), _transfer_file("write", settings), Step("close")), verify=settings.verify
    )
    read = Phase(
        "read_1to1_small",
        others,
        (Step("open"), _transfer_file("read", settings), Step("close")),
        verify=settings.verify,
    )
    return [PhasePlan("write_small", write), PhasePlan("read_1to1_small", read, reads=(others,))]


def _transfer_file(kind: str, settings: Settings) -> Step:
    return Step(kind, transfer_size=settings.small_file_size, size=settings.small_file_size, offsets="seq")


def _plan_large_files(settings: Settings, rank: int, writer: int) -> list[PhasePlan]:
    own = Files(f"rank{rank:05d}/large/f", settings.large_files)
    others = Files(f"rank{writer:05d}/large/f", settings.large_files)
    return [
        PhasePlan("write_large", _write_large(settings, "write_large", own), BANDWIDTH, "write"),
        PhasePlan(
            "read_1to1_large",
            _read_large(settings, "read_1to1_large", others),
            BANDWIDTH,
            "read",
            reads=(others,),
        ),
    ]


def _plan_n_to_1(settings: Settings, rank: int) -> list[PhasePlan]:
    """Plan files made by rank 0, each read once and whole by every rank at the same time.

    Many small ones: repeated reads of one file would come from the cache from the second time on.
    """
    small, large = Files("shared/small", settings.small_files), Files("shared/large", 1)
    make = Phase(
        "make_nto1_small",
        small,
        (Step("create"), _transfer_file("write", settings), Step("close")),
        verify=settings.verify,
    )
    read = Phase(
        "read_nto1_small",
        small,
        (Step("open"), _transfer_file("read", settings), Step("close")),
        verify=settings.verify,
    )
    make_large = _write_large(settings, "make_nto1_large", large)
    read_large = _read_large(settings, "read_nto1_large", large)
    distinct = settings.small_files * settings.small_file_size
    return [
        PhasePlan("make_nto1_small", make if rank == 0 else None, timed=False),
        PhasePlan("read_nto1_small", read, reads=(small,), shared=True, distinct_bytes=distinct),
        PhasePlan("make_nto1_large", make_large if rank == 0 else None, timed=False),
        PhasePlan(
            "read_nto1_large",
            read_large,
            BANDWIDTH,
            "read",
            reads=(large,),
            shared=True,
            distinct_bytes=settings.large_file_size,
        ),
    ]


def _plan_shared_writes(settings: Settings, rank: int, ranks: int) -> list[PhasePlan]:
    """Plan a file written by all ranks: each its own segment, or every R-th transfer (as IOR -b / -t with -s)."""
    size, transfer = settings.large_file_size, settings.transfer_size
    total = size * ranks
    plans = []
    for name in ("segmented", "strided"):
        files = Files(f"shared/{name}", 1)
        make = Phase(f"make_{name}", files, (Step("create"), Step("close")))
        plans.append(PhasePlan(f"make_{name}", make if rank == 0 else None, timed=False))
        if name == "segmented":
            data = Step("write", transfer_size=transfer, base=rank * size, size=size, offsets="seq")
        else:
            stride = {"stride": {"hole": (ranks - 1) * transfer}}
            span = total - (ranks - 1) * transfer
            data = Step(
                "write",
                transfer_size=transfer,
                base=rank * transfer,
                size=span,
                count=size // transfer,
                offsets=stride,
            )
        phase = Phase(
            f"write_shared_{name}",
            files,
            (Step("open"), data, Step("fsync"), Step("close")),
            open_flags=_list_flags(settings),
            verify=settings.verify,
        )
        plans.append(PhasePlan(f"write_shared_{name}", phase, BANDWIDTH, "write", shared=True, distinct_bytes=total))
    return plans


def _write_large(settings: Settings, name: str, files: Files) -> Phase:
    data = Step("write", transfer_size=settings.transfer_size, size=settings.large_file_size, offsets="seq")
    steps = (Step("create"), data, Step("fsync"), Step("close"))
    return Phase(name, files, steps, open_flags=_list_flags(settings), verify=settings.verify)


def _read_large(settings: Settings, name: str, files: Files) -> Phase:
    data = Step("read", transfer_size=settings.transfer_size, size=settings.large_file_size, offsets="seq")
    steps = (Step("open"), data, Step("close"))
    return Phase(name, files, steps, open_flags=_list_flags(settings), verify=settings.verify)


def _list_flags(settings: Settings) -> tuple[str, ...]:
    return ("direct",) if settings.direct else ()

"""A user's request in terms of the options: not yet checked; None means the value of a file or a default."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Request:
    """The options of ``iosonde run`` (docs/commands/run.md).

    ``what`` is an experiment file, a command, or the name of a benchmark; ``levels`` are the words of ``--set``.
    ``target`` are directories, each with an optional prefix ``NAME=``. ``in_lab``: the caller brings up the lab of the
    file. Sizes in bytes, times in seconds."""

    what: str | None = None
    spec_file: str | None = None
    native: bool = False
    on: str | None = None
    parse: str | None = None
    levels: tuple[str, ...] = ()
    target: tuple[str, ...] | None = None
    nodes: tuple[int, ...] | None = None
    ranks_per_node: tuple[int, ...] | None = None
    repetitions: int | None = None
    until: str | None = None
    against: str | None = None
    a_name: str | None = None
    b_name: str | None = None
    margin: str | None = None
    metric: str | None = None
    fail_if: tuple[str, ...] = ()
    budget: float | None = None
    quick: bool = False
    full: bool = False
    launcher: str | None = None
    hosts: str | None = None
    reserve: str | None = None
    store: str | None = None
    name: str | None = None
    seed: int | None = None
    small_files: int | None = None
    small_size: int | None = None
    large_files: int | None = None
    large_size: int | None = None
    transfer_size: int | None = None
    cache: str | None = None
    before_reads: str | None = None
    between_trials: str | None = None
    direct: bool | None = None
    verify: bool | None = None
    shared_writes: bool | None = None
    max_bytes: int | None = None
    max_files: int | None = None
    max_seconds: float | None = None
    max_operations: int | None = None
    trial_timeout: float | None = None
    idle_timeout: float | None = None
    pace: str | float | None = None
    abort_if: str | None = None
    fake: str | None = None
    spool: str | None = None
    subject_commit: str | None = None
    wait: float | None = None
    alongside: bool = False
    in_lab: bool = False

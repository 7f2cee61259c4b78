"""fio: the jobs of a command line, or of a job file that can be read here. A job that only reads lays out its files
first, where there are none."""

import re
from collections.abc import Iterator, Sequence

from iosonde.campaign.forecast import TrialWork
from iosonde.core.message import Message
from iosonde.core.vocabulary.fio import FIO
from iosonde.core.vocabulary.tool import Word

from .amount import (
    Amount,
    CallContext,
    CallOptions,
    FileSpace,
    UnknownAmountError,
    add_work,
    collect_options,
    merge_spaces,
)

_READS, _WRITES, _MIXES = ("read", "randread"), ("write", "randwrite"), ("rw", "readwrite", "randrw")
_ENGINES = ("sync", "psync", "vsync", "pvsync", "pvsync2", "libaio", "io_uring", "posixaio", "mmap")
_REMOTE = "server client remote-config"
_OPEN_AMOUNT = (
    "read_iolog write_iolog opendir fill_device file_append offset offset_increment zonemode profile filename_format"
    " merge_blktrace_file number_ios verify_only create_only parse-only showcmd section"
)
_COMMANDS = "exec_prerun exec_postrun trigger trigger-remote"
_SECTION = re.compile(r"\[(.+)\]")
# With these something else than the amount decides how long it takes.
_PACED = (
    *("runtime", "time_based", "steadystate", "thinktime", "latency_target", "ramp_time", "startdelay", "verify"),
    *("rate", "rate_iops", "rate_min", "rate_iops_min"),
)


def compute_amount(words: Sequence[Word], context: CallContext) -> Amount:
    """Return what one process of fio writes. Raises UnknownAmountError."""
    spaces: dict[str, FileSpace] = {}
    works, is_permanent = [], False
    for job in _list_jobs(words, context):
        space_by_path, work = _compute_job(job, context)
        merge_spaces(spaces, space_by_path)
        works.append(work)
        is_permanent = is_permanent or not job.has("unlink")
    return Amount(spaces, add_work(works), is_permanent)


def _list_jobs(words: Sequence[Word], context: CallContext) -> Iterator[CallOptions]:
    """Yield each job with the options before the first one. Those of a file have the options of the command line as
    defaults."""
    file_names = [word.value or "" for word in words if not word.name]
    starts = [place for place, word in enumerate(words) if word.option and "name" in word.option.names]
    if file_names and not starts:
        defaults = [word for word in words if word.name]
        yield from _list_file_jobs(_read_job_file(file_names, context), defaults)
        return
    shared = words[: starts[0]] if starts else words
    for start, end in zip(starts, [*starts[1:], len(words)], strict=True) if starts else ():
        yield collect_options([*shared, *words[start:end]])
    if not starts:
        yield collect_options(shared)


def _read_job_file(file_names: Sequence[str], context: CallContext) -> str:
    text = context.read_file(context.locate(file_names[0])) if len(file_names) == 1 else None
    if text is None:
        raise UnknownAmountError(Message("unknown-amount", "the job file {file} is not read", file=file_names[0]))
    return text


def _list_file_jobs(text: str, defaults: Sequence[Word]) -> Iterator[CallOptions]:
    """Yield each job of a job file, with the options of [global] before it."""
    shared = list(defaults)
    for name, options in _split_sections(text):
        words = list(FIO.split(options))
        if name == "global":
            shared += words
        else:
            yield collect_options([*shared, *FIO.split([f"--name={name}"]), *words])


def _split_sections(text: str) -> list[tuple[str, list[str]]]:
    """Return the name and the options of each section, as on a command line."""
    sections: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        line = re.split("[;#]", line)[0].strip()
        if match := _SECTION.fullmatch(line):
            sections.append((match[1].strip(), []))
        elif line and (not sections or line.startswith("include ")):
            raise UnknownAmountError(Message("unknown-amount", "a line of the job file is unclear: {line}", line=line))
        elif line:
            sections[-1][1].append("--" + re.sub(r"\s*=\s*", "=", line, count=1))
    return sections


def _compute_job(job: CallOptions, context: CallContext) -> tuple[dict[str, FileSpace], TrialWork | None]:
    if job.arguments:
        raise UnknownAmountError(Message("unknown-amount", "the job file {file} is not read", file=job.arguments[0]))
    job.refuse(_REMOTE, "it runs elsewhere")
    job.refuse(_COMMANDS, "it runs other commands")
    job.refuse(_OPEN_AMOUNT, "an option changes its amount")
    kind, engine = job.text("rw", "read").partition(":")[0], job.text("ioengine", "psync")
    if kind not in (*_READS, *_WRITES, *_MIXES):
        raise UnknownAmountError(Message("unknown-amount", "the access {kind} is unknown", kind=kind))
    if engine not in _ENGINES:
        raise UnknownAmountError(Message("unknown-amount", "files of the engine {engine} are unknown", engine=engine))
    clones = max(job.count("numjobs", 1), 1)
    spaces = _compute_files(job, clones)
    if kind in _READS:
        spaces = {path: space for path, space in spaces.items() if context.is_new(path)}
    if job.has(*_PACED):
        return spaces, None
    moved = (job.size("io_size", 0) or _compute_size(job)) * clones * max(job.count("loops", 1), 1)
    read_share = 1.0 if kind in _READS else 0.0 if kind in _WRITES else job.count("rwmixread", 50) / 100
    n_files = sum(space.n_files for space in spaces.values())
    return spaces, TrialWork(moved, n_files, moved * (1 - read_share))


def _compute_files(job: CallOptions, clones: int) -> dict[str, FileSpace]:
    """Return the space by path: clones share the files that are named."""
    folder = job.text("directory")
    names = [name for name in job.text("filename").split(":") if name]
    paths = [f"{folder}/{name}" if folder else name for name in names]
    if any(path.startswith("/dev/") for path in paths):
        raise UnknownAmountError(Message("unknown-amount", "it writes to a device"))
    n_files = len(paths) or max(job.count("nrfiles", 1), 1)
    n_bytes = job.size("filesize") * n_files if job.has("filesize") else job.size("size")
    if paths:
        return {path: FileSpace(-(-n_bytes // n_files), 1) for path in paths}
    return {f"{folder}/{job.text('name')}" if folder else job.text("name"): FileSpace(n_bytes, n_files).times(clones)}


def _compute_size(job: CallOptions) -> int:
    return job.size("size") if job.has("size") else job.size("filesize") * max(job.count("nrfiles", 1), 1)

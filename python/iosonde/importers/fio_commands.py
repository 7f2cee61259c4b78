"""Options of fio's jobs that its text does not print: those of the command line, or of the job file, above the output.

    $ cat read.fio                                  $ fio --name=seq --rw=read --size=1G
    [seq]                                           seq: (g=0): rw=read, …
    size=1G

The names of the jobs must be those in the output, and what the output prints must agree.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from iosonde.core.vocabulary import FIO
from iosonde.core.vocabulary.fio import FioJobs, list_fio_job_files, read_fio_job_file, read_fio_jobs

from .command_lines import CommandLines
from .fio_jobs import Settings, is_unflushed, join_flags, options_to_factors
from .text import Text

_SECTION_BEGIN = re.compile(r"\s*\[[^\[\]]+\]\s*$")
# Settings that the output prints too; other spellings of their values.
_PRINTED = ("rw", "block_size")
_SPELLINGS = {"readwrite": "rw"}


class _JobFile(NamedTuple):
    """A job file in a text: the line before it, its last line, its jobs."""

    before: str
    line: int
    jobs: FioJobs


class JobOptions(NamedTuple):
    """Settings of each job of an output, the command, and whether all their writes may stay in the page cache."""

    settings: dict[str, Settings]
    command: str = ""
    is_unflushed: bool | None = None


class FioCommands:
    """The command lines and job files in a text."""

    def __init__(self, text: Text) -> None:
        self._commands = CommandLines(text, FIO.name)
        self._files = _list_job_files(text) if "\n[" in text.content or text.content.startswith("[") else []

    def find_settings(self, line: int, printed: Mapping[str, Settings]) -> JobOptions:
        """Return the settings of each job of the output in ``line``. ``printed`` are those that the
        output has of each job. Nothing if they are not known of all jobs, or if they contradict the output."""
        command = self._commands.find_above(line)
        jobs = read_fio_jobs(command.words) if command and command.words else {}
        if not jobs:
            names = list_fio_job_files(command.words or ()) if command else []
            jobs = self._choose_job_file(line, [name.rpartition("/")[2] for name in names], printed)
        settings = {name: options_to_factors(jobs[name]) for name in printed if name in jobs}
        if len(settings) < len(printed) or any(_contradicts(settings[name], own) for name, own in printed.items()):
            return JobOptions({})
        unflushed = join_flags(is_unflushed(jobs[name]) for name in printed)
        return JobOptions(settings, command.text if command else "", unflushed)

    def _choose_job_file(self, line: int, names: list[str], printed: Mapping[str, Settings]) -> FioJobs:
        files = [file for file in self._files if file.line < line and printed.keys() <= file.jobs.keys()]
        chosen = [file for file in files if any(name in file.before for name in names)] or files
        return chosen[0].jobs if len(chosen) == 1 else {}


def _list_job_files(text: Text) -> list[_JobFile]:
    files: list[_JobFile] = []
    end = 0
    for at, line in text.numbered():
        if at > end and _SECTION_BEGIN.match(line):
            jobs, n_lines = read_fio_job_file(text.lines[at - 1 :])
            end = at + n_lines - 1
            if any(name in FIO.by_name for options in jobs.values() for name in options):
                files.append(_JobFile(text.lines[at - 2] if at > 1 else "", end, jobs))
    return files


def _contradicts(settings: Settings, printed: Settings) -> bool:
    for name in _PRINTED:
        own, other = settings.get(name), printed.get(name)
        if isinstance(own, str) and isinstance(other, str) and name == "rw":
            own = own.partition(":")[0]
            own = _SPELLINGS.get(own, own)
        if own is not None and other is not None and type(own) is type(other) and own != other:
            return True
    return False

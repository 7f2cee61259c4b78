"""benchio of EPCC: one array, distributed over the processes, written by several libraries, with several stripings.

    Running on            8  process(es)
    Total amount of data =    2.0000000000000000       GiB
    Writing to fullstriped/mpiio.dat
    time =    1.2500000000000000      , rate =    1.6000000000000001       GiB/s

becomes, for each file that it writes (an execution of its own; factors ``api``, ``access``, ``striping``), ``write
bandwidth_last_done`` and ``time``, with open and close, until the last process is done. Older versions write each
file ten times (``iteration``), and print MiB/s, the best and the mean (``bandwidth_max``, ``bandwidth_mean``). Source:
``benchio.f90``, ``benchio_fpp.F90``.
"""

import re

from iosonde.core.message import Message
from iosonde.core.types import FactorValue

from .damage import note_reported_failure
from .parsed import CERTAIN, GLUED, LIKELY, Claim, Parsed, Row
from .reading import BINARY, parse_number
from .text import Text

NAME = "benchio"
HEADLINE = ("bandwidth",)

_TITLE = re.compile(r"\s*Simple Parallel IO benchmark(?:-+)?\s*$")
_NUMBER = r" *([\d.]+(?:[Ee][+-]?\d+)?) *"
_RANKS = re.compile(r"\s*Running on +(\d{1,9}) +process\(es\)\s*$")
_NODES = re.compile(r"\s*Running on +(\d{1,9}) +nodes?\s*$")
_SIZE = re.compile(r"\s*(Array size is|Global size is) +\( *(\d{1,9}) *, *(\d{1,9}) *, *(\d{1,9}) *\)\s*$")
_AMOUNT = re.compile(rf"\s*Total amount of data ={_NUMBER}([KMG])iB\s*$")
_FILE = re.compile(r"\s*Writing to +(\S+)\s*$")
_ROW = re.compile(rf"\s*(min|avg)?time ={_NUMBER}, *(max|avg)?rate ={_NUMBER}([KMG])iB/s\s*$")
_DAMAGED = re.compile(r"\b(?:\w{3})?time = |\brate = |Writing to ")
_FINISHED = re.compile(r"\s*Finished\s*$")
_FAILED = re.compile(r"\s*(?:forrtl: |Fortran runtime error|At line \d+ of file|Illegal (?:value|argument))")
# Begin of a file's name → library, and how many files.
_METHODS = {
    "serial": ("POSIX", "single-writer"),
    "proc": ("POSIX", "file-per-process"),
    "fpp": ("POSIX", "file-per-process"),
    "node": ("POSIX", "file-per-node"),
    "mpiio": ("MPIIO", "single-shared-file"),
    "hdf5": ("HDF5", "single-shared-file"),
    "netcdf": ("NETCDF", "single-shared-file"),
    "adios": ("ADIOS2", "single-shared-file"),
}
_STRIPINGS = ("unstriped", "striped", "fullstriped")
_INCLUDES = "open,close"


def claims(text: Text) -> Claim | None:
    """Recognise the title, or a file with its time and rate."""
    if hit := text.search(_TITLE, "Simple Parallel IO benchmark"):
        return Claim.from_match(CERTAIN, hit)
    hit = text.search(_FILE, "Writing to ")
    return Claim.from_match(LIKELY, hit) if hit and text.search(_ROW, "time = ") else None


def parse(text: Text) -> list[Parsed]:
    """Return one Parsed for each file that was written."""
    reader = _Reader()
    for at, line in text.numbered():
        if line and not line.isspace():
            reader.read_line(at, line)
    reader.end_benchmark(text.last_line)
    return reader.runs


class _Reader:
    def __init__(self) -> None:
        self.runs: list[Parsed] = []
        self._begin_benchmark()

    def _begin_benchmark(self) -> None:
        self._settings: dict[str, FactorValue] = {}
        self._facts: dict[str, str] = {}
        self._run: Parsed | None = None
        self._has_begun = self._is_finished = False
        self._first = len(self.runs)
        self._failures: list[tuple[int, Message]] = []

    def read_line(self, at: int, line: str) -> None:
        if _TITLE.match(line):
            self.end_benchmark(at)
            self._has_begun = True
        elif match := _FILE.match(line):
            self._begin_file(match.group(1))
        elif match := _ROW.match(line):
            self._add_row(at, match)
        elif _DAMAGED.search(line):
            self._note_damage(at, line)
        elif _FINISHED.match(line):
            self._is_finished = True
        elif _FAILED.match(line):
            quote = line.strip()[:160]
            self._failures.append((at, Message("tool-failed", "it failed: {quote}", quote=quote)))
        elif not self._read_setting(line):
            note_reported_failure(self._run, at, line)

    def _read_setting(self, line: str) -> bool:
        if match := _RANKS.match(line):
            self._settings["ranks"] = int(match.group(1))
        elif match := _NODES.match(line):
            self._settings["nodes"] = int(match.group(1))
        elif match := _SIZE.match(line):
            self._facts[match.group(1).removesuffix(" is").lower().replace(" ", "_")] = "x".join(match.groups()[1:])
        elif match := _AMOUNT.match(line):
            amount = parse_number(match.group(1))
            if amount is not None:
                self._settings["data_size"] = round(amount * BINARY[match.group(2).lower()])
        else:
            return False
        return True

    def _begin_file(self, path: str) -> None:
        self._end_file(0)
        self._has_begun = True
        folder, _, name = path.rpartition("/")
        method = next((prefix for prefix in _METHODS if name.startswith(prefix)), "")
        api, access = _METHODS.get(method, (name.partition(".")[0][:40], ""))
        run = self._run = Parsed(factors={**self._settings, "api": api}, facts={**self._facts, "file": path[:200]})
        if access:
            run.factors["access"] = access
        striping = folder.rpartition("/")[2]
        if striping in _STRIPINGS:
            run.factors["striping"] = striping
        self.runs.append(run)

    def _add_row(self, at: int, match: re.Match[str]) -> None:
        run = self._run
        if run is None:
            return
        time_word, time, rate_word, rate, unit = match.groups()
        seconds, speed = parse_number(time), parse_number(rate)
        if seconds is None or speed is None or bool(time_word) != bool(rate_word):
            run.lacks(at, Message("damaged-lines", "the row is cut or damaged: left out"))
            return
        statistics = {"min": "_min", "avg": "_mean", "max": "_max"}
        time_metric = f"time{statistics[time_word]}" if time_word else "time"
        metric = f"bandwidth{statistics[rate_word]}" if rate_word else "bandwidth_last_done"
        iteration = None if time_word else self._count_iterations(run)
        bytes_per_second = speed * BINARY[unit.lower()]
        run.rows += [
            Row("write", metric, bytes_per_second, "bytes/s", at, None, iteration, includes=_INCLUDES),
            Row("write", time_metric, seconds, "s", at, None, iteration, includes=_INCLUDES),
        ]

    @staticmethod
    def _count_iterations(run: Parsed) -> int:
        return sum(row.metric == "time" for row in run.rows)

    def _note_damage(self, at: int, line: str) -> None:
        if self._run is None:
            return
        if len(_DAMAGED.findall(line)) > 2 or "Writing to " in line:
            self._run.lacks(at, GLUED)
            self._run = None if "Writing to " in line else self._run  # whose the next times are is lost
        else:
            self._run.lacks(at, Message("damaged-lines", "the row is cut or damaged: left out"))

    def _end_file(self, at: int) -> None:
        run, self._run = self._run, None
        if run is None:
            return
        count = self._count_iterations(run)
        if count == 1:
            for row in run.rows:
                row.iteration = None
        elif count > 1:
            run.factors["iterations"] = count
            for row in run.rows:
                row.count = count if row.iteration is None else None
        has_statistics = any(row.metric == "bandwidth_mean" for row in run.rows)
        if (not count or (count > 1 and not has_statistics)) and not run.missing:
            run.lacks(at, Message("ended-early", "the output ends before the results of this file"))

    def end_benchmark(self, at: int) -> None:
        """Close the benchmark; one that does not say that it finished is incomplete."""
        self._end_file(at)
        if self._has_begun:
            if len(self.runs) == self._first:
                self.runs.append(Parsed(factors=self._settings, facts=dict(self._facts)))
                self.runs[-1].lacks(at, Message("no-results", "no file was written"))
            last = self.runs[-1]
            for line, message in self._failures:
                last.lacks(line, message)
            if not self._is_finished and not last.missing:
                last.lacks(at, Message("ended-early", "the output ends before the end of the benchmark"))
        self._begin_benchmark()

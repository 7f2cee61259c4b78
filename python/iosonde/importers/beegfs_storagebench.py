"""``beegfs-ctl --storagebench --status``: the storage targets of BeeGFS's servers, without clients and network.

    Server benchmark status:
    Finished:     2

    Write benchmark results:
    Min throughput:             409600  KiB/s   nodeID: stor2 [ID: 2], targetID: 201
    Aggregate throughput:      1024000  KiB/s

becomes ``write bandwidth_sum_of_ranks``: each target's bytes over the time of its slowest thread, added up; and over
targets ``bandwidth_rank_min``, ``…_mean``, ``…_max``. With ``--verbose`` each target is a rank, its number the
target's, with ``bandwidth_own``. Servers that still run, stopped or failed make the status incomplete: its numbers are
intermediate. Source: ``ModeStorageBench.cpp``, ``StorageBenchSlave.cpp``.
"""

import re

from iosonde.core.message import Message

from .damage import note_reported_failure
from .parsed import CERTAIN, Claim, Parsed, Row
from .reading import parse_integer, parse_size, split_command
from .text import Text

NAME = "beegfs-storagebench"
HEADLINE = ("bandwidth",)

_STATUS = re.compile(r"\s*Server benchmark status:\s*$")
_RESULTS = re.compile(r"(Read|Write) benchmark results:$")
_STATE = re.compile(r"(Didn't run|Error|Running|Stopping|Stopped|Finished): +(\d{1,9})$")
_NODE = r" +nodeID: (.{1,200}?)"
_SUMMARY = re.compile(
    rf"\s*(Min|Max|Avg|Aggregate) throughput: +(\d{{1,15}}) +KiB/s(?:{_NODE}, targetID: (\d{{1,5}}))?\s*$"
)
_TARGET = re.compile(rf"(\d{{1,5}}) +(\d{{1,15}}) +KiB/s{_NODE}$")
_METRICS = {
    "Min": "bandwidth_rank_min",
    "Max": "bandwidth_rank_max",
    "Avg": "bandwidth_rank_mean",
    "Aggregate": "bandwidth_sum_of_ranks",
}
_EXTREMES = {"Min": "slowest_target", "Max": "fastest_target"}
_STARTED = "storage benchmark was started."
_LIST = "List of all targets:"
_COMMAND = re.compile(r".{0,80}?\bbeegfs-ctl +(.*--storagebench\b.*)$")
# Lines of "Some errors occurred:", behind the node.
_FAILED = re.compile(
    r".{1,200}: (?:I/O operation on disk failed|Benchmark uninitialized|Initialization error|No \(or not enough\) data"
    r"|Couldn't |Runtime error|Unable to delete|TargetID unknown|Unknown error)"
)
_SOME_FAILED = "Some errors occurred:"
_KIB = 1024.0


def claims(text: Text) -> Claim | None:
    """Recognise the status of the servers, or the results of a summary."""
    hit = text.search(_STATUS, "Server benchmark status:") or text.search(_SUMMARY, "\nAggregate throughput:")
    return Claim.from_match(CERTAIN, hit)


def parse(text: Text) -> list[Parsed]:
    """Return one Parsed for each status."""
    reader = _Reader()
    for at, line in text.numbered():
        if line and not line.isspace():
            reader.read_line(at, line.strip())
    reader.end_status(text.last_line)
    return reader.runs


class _Reader:
    def __init__(self) -> None:
        self.runs: list[Parsed] = []
        self._command = ""
        self._begin_status(False)

    def _begin_status(self, has_begun: bool) -> None:
        self._run = Parsed()
        self._has_begun = has_begun
        self._operation = ""
        self._is_in_list = self._is_start = False
        self._nodes: dict[str, str] = {}

    def read_line(self, at: int, line: str) -> None:
        run = self._run
        if match := _COMMAND.match(line):
            self.end_status(at)
            if "--write" in line or "--read" in line:  # else it is the query, without settings
                self._command = match.group(1)[:4000]
        elif line.endswith(_STARTED):
            self._is_start = True
        elif self._is_start and _STATUS.match(line):  # of a benchmark that begins
            self._is_start = False
        elif line == _SOME_FAILED or _STATUS.match(line):
            if self._has_begun and (self._operation or line == _SOME_FAILED):
                self.end_status(at)
            self._has_begun = True
        elif match := _RESULTS.match(line):
            if self._operation:
                self.end_status(at)
            self._has_begun, self._operation = True, match.group(1).lower()
        elif match := _STATE.match(line):
            self._read_state(at, match.group(1), int(match.group(2)))
        elif match := _SUMMARY.match(line):
            self._read_summary(at, match)
        elif line == _LIST:
            self._is_in_list = True
        elif self._is_in_list and (match := _TARGET.match(line)):
            self._add_row(at, "bandwidth_own", match.group(2), int(match.group(1)))
            self._nodes[match.group(1)] = match.group(3)
        elif self._has_begun and ("KiB/s" in line or "throughput:" in line):
            run.lacks(at, Message("damaged-lines", "the row is cut or damaged: left out"))
        elif _FAILED.match(line):
            self._has_begun = True
            run.lacks(at, Message("tool-failed", "it failed: {quote}", quote=line[:160]))
        elif self._has_begun:
            note_reported_failure(run, at, line)

    def _read_state(self, at: int, state: str, n_servers: int) -> None:
        if not self._has_begun:
            return
        if state == "Finished":
            self._run.factors["servers"] = n_servers
        elif n_servers:
            message = "{n_servers} servers have the state '{state}': the numbers are not final"
            self._run.lacks(at, Message("not-finished", message, n_servers=n_servers, state=state))

    def _read_summary(self, at: int, match: re.Match[str]) -> None:
        word, number, node, target = match.groups()
        if any(row.metric == _METRICS[word] for row in self._run.rows):
            self.end_status(at)
            self._has_begun = True
        if target and word != "Aggregate":
            self._run.facts[{"Min": "slowest_target", "Max": "fastest_target"}.get(word, "target")] = (
                f"{node}: {target}"
            )
        self._add_row(at, _METRICS[word], number, None)

    def _add_row(self, at: int, metric: str, number: str, rank: int | None) -> None:
        value = parse_integer(number)
        if not self._operation or value is None:
            self._run.lacks(at, Message("damaged-lines", "the row is cut or damaged, or without its section: left out"))
            return
        self._run.rows.append(Row(self._operation, metric, value * _KIB, "bytes/s", at, rank=rank))

    def end_status(self, at: int) -> None:
        """Close the status; one without its aggregate is incomplete."""
        run = self._run
        if self._has_begun and (self._operation or run.missing or "servers" in run.factors):
            self._set_command(run)
            if self._nodes:
                run.factors["targets"] = len(self._nodes)
                run.facts["targets"] = [f"{target} {node}" for target, node in self._nodes.items()]
            if not any(row.metric == "bandwidth_sum_of_ranks" for row in run.rows) and not run.missing:
                run.lacks(at, Message("ended-early", "the output ends before 'Aggregate throughput:'"))
            self.runs.append(run)
        self._begin_status(False)

    def _set_command(self, run: Parsed) -> None:
        if not self._command or (self._operation and f"--{self._operation}" not in self._command):
            return
        run.facts["command"] = f"beegfs-ctl {self._command}"
        options = dict(word[2:].split("=", 1) for word in split_command(self._command) if "=" in word[2:])
        for option, setting in (("blocksize", "block_size"), ("size", "file_size"), ("threads", "threads")):
            if value := parse_size(options.get(option, "")):
                run.factors[setting] = value
        if "--odirect" in self._command:
            run.factors["direct"] = 1

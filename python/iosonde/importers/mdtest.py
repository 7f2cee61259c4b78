"""mdtest 1.9 to 4.x: the summary of rates (and of times), and the CSV of ``--saveRankPerformanceDetails``.

Made by ``mpirun -np 2 mdtest -n 500 -i 3 -d DIR``:

    SUMMARY rate: (of 3 iterations)
       Operation                     Max            Min           Mean        Std Dev
       File creation               98747.593      47479.103      66749.488      27903.596

becomes ``file_creation rate_max``, ``rate_min``, ``rate_mean`` and ``rate_sd`` in operations/s over the iterations. A
single iteration also gives ``rate_last_done``, as it is one measurement: all items over the time until the last rank
was done. Rows of zeros were not requested and are left out. The table of times is in seconds for the whole phase,
whatever 4.1 writes above it (``ms/op``). ``--showRankStatistics`` adds three columns before these: ``rate_own_max``,
``rate_own_min`` and ``rate_own_mean``, over the ranks of all iterations, each until its own end. For some weeks of 2020
these columns stood there in any case, with ``Std Dev`` on their side: the columns follow the head.
"""

import re

from iosonde.core.message import Message
from iosonde.core.vocabulary import MDTEST

from .damage import note_reported_failure
from .parsed import CERTAIN, LIKELY, Claim, Parsed, Row
from .reading import count_seconds_between, date_to_iso, parse_number, split_command
from .text import Text

NAME = "mdtest"
BEGINS = ("-- started at ", " was launched with ")
HEADLINE = ("rate",)

_LAUNCHED = re.compile(r"\s*mdtest-(\S+) was launched with (\d+) total task\(s\) on (\d+) node")
_SUMMARY = re.compile(r"\s*SUMMARY(?: (rate|time))?(?: \(in ([^)]*)\))?:? *(?:\(of (\d+) iterations\))?")
_ROW = re.compile(r"\s*([A-Z][a-z]+ [a-z]+)\s*:?\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)\s*$")
_RANKS_ROW = re.compile(r"\s*([A-Z][a-z]+ [a-z]+)\s*:?\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)\s*$")
_RANKS_HEAD = re.compile(r"Operation +per Rank: +(.+?) +per Iteration: +(.+)$")
_HEADINGS = {"Max": "max", "Min": "min", "Mean": "mean", "Std Dev": "sd"}
_NAME = re.compile(r"(?:Directory|File|Tree) [a-z]+$")
_TASKS = re.compile(r"\s*(\d+) tasks, (\d+) (?:files|directories)")
_STAMP = re.compile(r"\s*-- (started|finished) at (\d\d/\d\d/\d{4} \d\d:\d\d:\d\d) --")
_OP_CSV = "time,runtime,tp"
_CSV_HEAD = "rank,items,rate-"
_STATISTICS = ("max", "min", "mean", "sd")


def claims(text: Text) -> Claim | None:
    """Recognise the launch line, the CSV's header, or the summary's heading."""
    if _is_operations(text):
        return Claim(CERTAIN + 1, 1, _OP_CSV)  # surer than IOR, which writes the same columns
    for pattern, score in ((" was launched with ", CERTAIN), (_CSV_HEAD, CERTAIN), ("SUMMARY rate", LIKELY)):
        if occurrence := text.find(pattern):
            line = text.lines[occurrence[0] - 1]
            if pattern != " was launched with " or _LAUNCHED.match(line):
                return Claim(score, occurrence[0], line.strip()[:60])
    if (occurrence := text.find("SUMMARY: (of ")) and "iterations)" in text.lines[occurrence[0] - 1]:
        return Claim(LIKELY, occurrence[0], text.lines[occurrence[0] - 1].strip())
    return None


def parse(text: Text) -> list[Parsed]:
    """Return one Parsed for each launch, and one for a CSV of ranks or operations."""
    if text.first_line == _OP_CSV:
        from .operation_csv import parse_mdtest

        return [parse_mdtest(text)]
    runs: list[Parsed] = []
    state = _State()
    for at, line in text.numbered():
        if line.startswith(_CSV_HEAD):
            from .mdtest_ranks import parse_ranks

            return [parse_ranks(text, at)]
        _read_line(runs, state, at, line)
    _finish_runs(runs, state)
    return runs


def _is_operations(text: Text) -> bool:
    """Return whether a CSV of operations is mdtest's, by its name."""
    if text.first_line != _OP_CSV:
        return False
    from .operation_csv import is_mdtest_csv

    return is_mdtest_csv(text)


class _State:
    def __init__(self) -> None:
        self.table, self.iterations, self.rates, self.summaries = "", 0, 0, 0
        self.row = _ROW
        self.columns: tuple[str, ...] = _STATISTICS
        self.started, self.finished, self.last = "", False, 0


def _read_line(runs: list[Parsed], state: _State, at: int, line: str) -> None:
    stripped = line.lstrip()
    if not stripped:
        return
    run = runs[-1] if runs else None
    if run is not None:
        state.last = at
    if state.table and (match := state.row.match(line)) and _is_name(match):
        if run is not None:
            _add_row(run, state, at, match)
    elif (
        run is not None and state.table and state.row is _RANKS_ROW and (match := _ROW.match(line)) and _is_name(match)
    ):
        run.lacks(at, Message("damaged-lines", "{operation}: not seven numbers: left out", operation=match.group(1)))
    elif stripped.startswith("SUMMARY") and (match := _SUMMARY.match(line)):
        run = run or _begin_run(runs, state, at)
        state.table = match.group(1) or "rate"
        state.summaries += 1
        state.row, state.columns = _ROW, _STATISTICS
        state.iterations = int((match.group(3) or "0")[:9])
        run.factors["iterations"] = state.iterations or None
        if state.table == "time" and match.group(2):
            run.warn(
                at,
                Message(
                    "assumed-unit",
                    "the times are seconds for the whole phase, although the heading says '{heading}'",
                    heading=match.group(2),
                ),
            )
    elif state.table and (match := _RANKS_HEAD.match(stripped)):
        of_ranks, of_iterations = (re.findall("|".join(_HEADINGS), part) for part in match.groups())
        state.row = _RANKS_ROW
        state.columns = (*(f"own_{_HEADINGS[name]}" for name in of_ranks), *(_HEADINGS[name] for name in of_iterations))
    elif stripped.startswith("-- ") and (match := _STAMP.match(line)):
        _add_stamp(runs, state, *match.groups())
    elif stripped.startswith("mdtest-") and (match := _LAUNCHED.match(line)):
        run = _begin_run(runs, state, at)
        run.version = match.group(1)
        ranks, nodes = int(match.group(2)[:9]), int(match.group(3)[:9])
        run.factors |= {"nodes": nodes, "ranks": ranks}
        if nodes and ranks % nodes == 0:
            run.factors["ranks_per_node"] = ranks // nodes
    elif run is not None:
        _read_setting(run, at, stripped)


def _is_name(match: re.Match[str]) -> bool:
    return _NAME.match(match.group(1)) is not None


def _begin_run(runs: list[Parsed], state: _State, at: int) -> Parsed:
    _finish_runs(runs, state)
    runs.append(Parsed(started_at=state.started))
    state.table, state.rates, state.summaries, state.finished = "", 0, 0, False
    state.last, state.started = at, ""
    return runs[-1]


def _add_stamp(runs: list[Parsed], state: _State, what: str, when: str) -> None:
    if what == "started":
        state.started = date_to_iso(when)
    elif runs:
        state.finished, state.table = True, ""
        runs[-1].seconds = count_seconds_between(runs[-1].started_at, date_to_iso(when))


def _read_setting(run: Parsed, at: int, line: str) -> None:
    if line.startswith("Command line used:"):
        run.facts["command"] = line.removeprefix("Command line used:").strip()
        run.factors |= MDTEST.read_settings(split_command(run.facts["command"]))
    elif match := _TASKS.match(line):
        run.facts["items"] = int(match.group(2)[:18])  # of all ranks: it follows from these and items_per_rank
    elif line.startswith("FS"):
        run.facts["file_system"] = line.partition(":")[2].strip()[:200]
    elif line.startswith("Path"):
        run.facts["path"] = line.partition(":")[2].strip()[:1000]
    elif note_reported_failure(run, at, line):
        return
    elif "WARNING" in line:
        run.warn(at, Message("tool-warning", "mdtest warns: {quote}", quote=line[:200]))
    elif line.startswith(("ERROR", "Error")):
        run.lacks(at, Message("tool-failed", "it failed: {quote}", quote=line[:200]))


def _add_row(run: Parsed, state: _State, at: int, match: re.Match[str]) -> None:
    operation = match.group(1).lower().replace(" ", "_")
    values = [parse_number(word) for word in match.groups()[1:]]
    if any(value is None or value < 0 for value in values):
        run.warn(at, Message("damaged-lines", "{operation}: not four numbers: left out", operation=match.group(1)))
        return
    numbers = {name: value or 0.0 for name, value in zip(state.columns, values, strict=False)}
    high, low, mean = (numbers.get(name, 0.0) for name in ("max", "min", "mean"))
    if high == low == mean == numbers.get("sd", 0.0) == 0:
        return
    if not low <= mean <= high:
        run.warn(
            at,
            Message(
                "damaged-lines",
                "{operation}: the mean is not between min and max: the row is damaged and left out",
                operation=match.group(1),
            ),
        )
        return
    includes = _format_included(run, operation)
    name, unit = ("rate", "operations/s") if state.table == "rate" else ("time", "s")
    state.rates += name == "rate"
    is_single = state.iterations == 1
    for statistic, value in numbers.items():
        if statistic != "sd" or not is_single or value:
            run.rows.append(Row(operation, f"{name}_{statistic}", value, unit, at, includes=includes))
    if is_single and high == low:
        run.rows.append(
            Row(operation, "rate_last_done" if name == "rate" else name, mean, unit, at, None, 0, None, includes)
        )
    elif is_single:
        run.warn(
            at,
            Message(
                "spread-over-ranks",
                "max, min and Std Dev of the only iteration are over ranks (mdtest 3.3.0+dev, hpc/ior#300)",
            ),
        )


def _format_included(run: Parsed, operation: str) -> str:
    if operation == "file_creation":
        words = ["write"] if run.factors.get("write_bytes") else []
        return ",".join([*words, *(["fsync"] if run.factors.get("sync_file") else []), "close"])
    return "open,close" if operation == "file_read" else ""


def _finish_runs(runs: list[Parsed], state: _State) -> None:
    if not runs:
        return
    run = runs[-1]
    if run.version.startswith("3.3.0+") and state.iterations > 1:
        run.warn(
            0,
            Message(
                "spread-over-ranks",
                "mdtest 3.3.0+dev takes max, min and Std Dev over ranks and iterations together (hpc/ior#300)",
            ),
        )
    if run.version and any(row.metric.endswith("_sd") for row in run.rows):
        convention = {"1": "population", "4": "sample"}.get(run.version[0])
        run.facts["standard_deviation"] = "population" if run.version.startswith("3.3") else convention or "unknown"
    if state.summaries and not state.rates and any(row.unit == "s" for row in run.rows):
        run.warn(
            0,
            Message(
                "low-resolution", "times with three decimals and no rates (-Z): short phases are 0 there, and left out"
            ),
        )
    elif not state.rates:
        run.lacks(state.last, Message("ended-early", "no summary: mdtest was interrupted or failed"))
    elif not state.finished and run.version:
        run.lacks(state.last, Message("ended-early", "the output ends here, without '-- finished at'"))

"""Columns and units of another tool for numbers recomputed from a record, for users of that tool.
The first line says so, and differences keep it from being mistaken for the tool's own output: names of phases, narrower
columns, no banner. Every function takes blocks (operation, iteration, rows) and yields lines under 80 columns.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from iosonde.core.units import format_both_prefixes
from iosonde.layout.text import escape, paragraphs, wrapped

from .as_tool import AsTool, ToolPhase

NAMES = {"ior": "IOR", "mdtest": "mdtest", "iozone": "IOzone", "fio": "fio", "elbencho": "elbencho"}
_MIB = 2**20
_WRITERS = {"write": "writers", "read": "readers"}


def lines(as_tool: AsTool) -> Iterator[str]:
    """Yield for each setting its runs, the tool's columns, and what was excluded."""
    for number, setting in enumerate(as_tool.settings):
        if number:
            yield ""
        of = (
            f"run {setting.runs[0]}" if len(setting.runs) == 1 else f"{len(setting.runs)} runs, {setting.runs[0]} first"
        )
        yield from wrapped(format_title(as_tool.tool, of))
        yield from format_mdtest(setting.summary) if as_tool.tool == "mdtest" else LAYOUTS[as_tool.tool](setting.blocks)
        reasons = {
            why: [name for name, reason in setting.exclusion_reasons.items() if reason == why]
            for why in setting.exclusion_reasons.values()
        }
        if reasons:
            yield ""
        yield from paragraphs((f"left out ({why}): {', '.join(names)}" for why, names in reasons.items()), "  ")


def format_title(tool: str, of: str) -> str:
    """Return the first line of every such text."""
    return f"{NAMES[tool]}'s numbers recomputed by iosonde from {of}; {NAMES[tool]} did not run"


def _format_block_name(block: ToolPhase) -> str:
    return escape(block.operation) + (f", iteration {block.iteration}" if block.iteration else "")


def format_ior(blocks: Sequence[ToolPhase]) -> Iterator[str]:
    """Yield the table of iterations, block and transfer sizes per phase, and the line of maxima."""
    for operation in dict.fromkeys(block.operation for block in blocks):
        mine = [(block.iteration, row) for block in blocks if block.operation == operation for row in block.rows]
        row = mine[0][1]
        sizes = f"block {row.block_size / 1024:.2f} KiB, xfer {row.transfer_size / 1024:.2f} KiB"
        yield from (
            "",
            f"{escape(operation)}: {row.tasks} tasks, {sizes}",
            "access bw(MiB/s) IOPS     Latency(s) open(s)  wr/rd(s) close(s) total(s) iter",
            "------ --------- -------- ---------- -------- -------- -------- -------- ----",
        )
        for iteration, row in mine:
            cells = (
                (row.bandwidth and row.bandwidth / _MIB, 9),
                (row.iops, 8),
                (row.latency, 10),
                (row.open_time, 8),
                (row.access_time, 8),
                (row.close_time, 8),
                (row.total_time, 8),
            )
            yield f"{row.access:6} " + " ".join(_format_ior_number(*cell) for cell in cells) + f" {iteration}"
        for access in dict.fromkeys(row.access for _, row in mine):
            rates = [row.bandwidth for _, row in mine if row.access == access and row.bandwidth]
            if rates:
                best = max(rates)
                yield f"Max {access.title()}: {best / _MIB:.2f} MiB/sec ({best / 1e6:.2f} MB/sec)"


def _format_ior_number(value: float | None, width: int) -> str:
    if value is None:
        return "-".ljust(width)
    return f"{value:<{width}.{6 if value < 1 else 2 if value < 3600 else 0}f}"


def format_mdtest(summary: Sequence[Any]) -> Iterator[str]:
    """Yield the summary of rates over the iterations if there is any mdtest phase; duplicate names are numbered."""
    if not summary:
        return
    yield from (
        "",
        f"SUMMARY rate (in ops/sec): (of {max((row.iterations for row in summary), default=0)} iterations)",
        "   Operation                     Max           Min          Mean       Std Dev",
        "   ---------                     ---           ---          ----       -------",
    )
    names = [row.operation for row in summary]
    notes = []
    for number, row in enumerate(summary, 1):
        mark = f" [{number}]" if names.count(row.operation) > 1 else ""
        notes += [f"[{number}] {escape(row.phase)}"] if mark else []
        values = (row.maximum, row.minimum, row.mean, row.standard_deviation)
        yield f"   {row.operation + mark:20} " + " ".join(f"{value:13.3f}" for value in values)
    if notes:
        yield "   " + "  ".join(notes)


def format_iozone(blocks: Sequence[ToolPhase]) -> Iterator[str]:
    """Yield a block of throughput mode per phase. kB are 1024 bytes."""
    for block in blocks:
        for row in block.rows:
            who = f"{row.processes:2} {_WRITERS[row.operation]}"
            yield from (
                "",
                f"    {_format_block_name(block)}",
                _format_iozone_line(f"Children see throughput for {who}", row.children),
                _format_iozone_line(f"Parent sees throughput for {who}", row.parent),
                _format_iozone_line("Min throughput per process", row.minimum),
                _format_iozone_line("Max throughput per process", row.maximum),
                _format_iozone_line("Avg throughput per process", row.average),
                _format_iozone_line("Min xfer", row.minimum_transferred, "kB"),
            )


def _format_iozone_line(what: str, value: float | None, unit: str = "kB/sec") -> str:
    return f"        {what:43} = " + ("unknown" if value is None else f"{value / 1024:10.2f} {unit}")


def format_fio(blocks: Sequence[ToolPhase]) -> Iterator[str]:
    """Yield the lines of a job group (as with --group_reporting) and of the run status."""
    for block in blocks:
        for row in block.rows:
            low, high = (_format_fio_rates(value) for value in (row.minimum, row.maximum))
            rate, amount = _format_fio_rates(row.bandwidth), format_both_prefixes(row.bytes, "B")
            yield from ["", f"{_format_block_name(block)}: (groupid=0, jobs={row.jobs})"]
            yield (
                f"  {row.direction}: IOPS={_format_fio_count(row.iops)}, BW={rate[0]} ({rate[1]})"
                f"({amount[0]}/{row.longest_ms}msec)"
            )
            yield from _format_fio_latency(row)
            yield f"  {row.direction.upper()}: bw={rate[0]} ({rate[1]}), {low[0]}-{high[0]} ({low[1]}-{high[1]}),"
            yield f"    io={amount[0]} ({amount[1]}), run={row.shortest_ms}-{row.longest_ms}msec"


def _format_fio_rates(value: float) -> tuple[str, str]:
    return format_both_prefixes(value, "B/s")


def _format_fio_count(value: float) -> str:
    return f"{value:.0f}" if value < 10_000 else f"{value / 1000:.1f}k"


def _format_fio_latency(row: Any) -> Iterator[str]:
    name, divisor = _choose_fio_unit(row.latency_ns_min, row.latency_ns_max)
    low, high, mean, spread = (
        value / divisor for value in (row.latency_ns_min, row.latency_ns_max, row.latency_ns_mean, row.latency_ns_sd)
    )
    yield f"     lat ({name}): min={low:.0f}, max={high:.0f}, avg={mean:.2f}, stdev={spread:.2f}"
    yield f"    lat percentiles ({name}):"
    cells = [f"{float(p):5.2f}th=[{value / divisor:5.0f}]" for p, value in row.percentiles_ns.items()]
    for at in range(0, len(cells), 4):
        yield "     | " + ", ".join(cells[at : at + 4]) + ("" if at + 4 >= len(cells) else ",")


def _choose_fio_unit(low: int, high: int) -> tuple[str, int]:
    """Choose the unit as in fio's stat.c (show_clat_percentiles)."""
    if low > 2_000_000 and high > 99_999_999:
        return "msec", 1_000_000
    return ("usec", 1000) if low > 2000 and high > 99_999 else ("nsec", 1)


def format_elbencho(blocks: Sequence[ToolPhase]) -> Iterator[str]:
    """Yield FIRST DONE and LAST DONE of each phase. MiB are 1048576 bytes; rates are truncated to integers."""
    yield from (
        "",
        "OPERATION   RESULT TYPE         FIRST DONE   LAST DONE",
        "=========== ================    ==========   =========",
    )
    for block in blocks:
        for row in block.rows:
            name: str = row.operation.upper()
            for what, get in _ELBENCHO:
                cells = get(row.first_done), get(row.last_done)
                if None not in cells:
                    yield f"{name:11} {what:17}: {cells[0]:>11} {cells[1]:>11}"
                    name = ""
            yield f"            ({_format_block_name(block)}, {row.workers} workers, target: {row.target})"


def _format_quotient(value: float | None, divisor: int = 1) -> str | None:
    return None if value is None else str(int(value / divisor))


_ELBENCHO: tuple[tuple[str, Callable[[Any], str | None]], ...] = (
    ("Elapsed time", lambda column: _format_elapsed(int(column.seconds * 1000))),
    ("Files/s", lambda column: _format_quotient(column.entries_per_s)),
    ("IOPS", lambda column: _format_quotient(column.iops)),
    ("Throughput MiB/s", lambda column: _format_quotient(column.bandwidth, _MIB)),
    ("Total MiB", lambda column: _format_quotient(column.bytes, _MIB)),
    ("Files total", lambda column: _format_quotient(column.entries)),
)


def _format_elapsed(ms: int) -> str:
    hours, minutes, seconds = ms // 3_600_000, ms // 60_000 % 60, ms // 1000 % 60
    if hours:
        return f"{hours}h{minutes}m{seconds}s"
    if minutes:
        return f"{minutes}m{seconds}.{ms % 1000:03d}s"
    return f"{seconds}.{ms % 1000:03d}s" if seconds else f"{ms}ms"


LAYOUTS = {"ior": format_ior, "iozone": format_iozone, "fio": format_fio, "elbencho": format_elbencho}

"""Tools with their own numbers in an answer, and the content of their clocks."""

from iosonde.core.clock_words import ToolClock
from iosonde.core.stored import StoredRun
from iosonde.data.choice import column_to_texts
from iosonde.data.query import ResponseQuery
from iosonde.data.source import Source


def list_tool_clocks(source: Source, query: ResponseQuery) -> tuple[ToolClock, ...]:
    """Return the clock of each tool with rows of the query. Its content is '' if a tool does not state it, or has
    several. Numbers of our engine are excluded."""
    if not source.runs:
        return ()
    rows = source.trials(query.choice).rows
    if not len(rows) or "run" not in rows.columns:
        return ()
    tools = {run.id: _list_tools(run) for run in source.runs}
    inside: dict[str, set[str]] = {}
    summed = set()
    columns = [column_to_texts(rows, name) for name in ("run", "operation", "includes", "metric")]
    for run, operation, includes, metric in zip(*columns, strict=True):
        for tool in tools.get(run, ()) if operation in source.foreign else ():
            inside.setdefault(tool, set()).add(includes)
            summed |= {tool} if metric.endswith("_sum_of_ranks") else set()
    return tuple(
        ToolClock(tool, next(iter(clocks)) if len(clocks) == 1 else "", tool in summed)
        for tool, clocks in inside.items()
    )


def find_own_clock(source: Source, query: ResponseQuery) -> str:
    """Return the clock of our engine's rates; '' if none is shown, or metrics are named."""
    if query.response or query.metric or not source.knows_factors:
        return ""
    operations = set(column_to_texts(source.trials(query.choice).rows, "operation"))
    return query.clock if operations - source.foreign or not operations else ""


def _list_tools(run: StoredRun) -> tuple[str, ...]:
    if run.imported:
        return (run.source.split(" ")[0],)
    return tuple(dict.fromkeys(tool for phase in run.phases for tool in phase.tools))

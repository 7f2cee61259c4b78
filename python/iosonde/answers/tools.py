"""Tools with their own numbers in an answer, and the content of their clocks."""

from iosonde.core.stored import StoredRun
from iosonde.data.query import ResponseQuery
from iosonde.data.source import Source


def list_tool_clocks(source: Source, query: ResponseQuery) -> tuple[tuple[str, str], ...]:
    """Return (tool, what its clock includes besides the operation) for the rows of the query. The content is '' if a
    tool does not state it, or has several. Numbers of our engine are excluded."""
    if not source.runs:
        return ()
    rows = source.trials(query.choice).rows
    if not len(rows) or "run" not in rows.columns:
        return ()
    tools = {run.id: _list_tools(run) for run in source.runs}
    inside: dict[str, set[str]] = {}
    columns = [rows.columns[name].values for name in ("run", "operation", "includes")]
    for run, operation, includes in zip(*columns, strict=True):
        for tool in tools.get(str(run), ()) if str(operation) in source.foreign else ():
            inside.setdefault(tool, set()).add(str(includes or ""))
    return tuple((tool, next(iter(clocks)) if len(clocks) == 1 else "") for tool, clocks in inside.items())


def find_own_clock(source: Source, query: ResponseQuery) -> str:
    """Return the clock of our engine's rates; '' if none is shown, or metrics are named."""
    return "" if query.response or query.metric else source.own_clock(query.choice)


def _list_tools(run: StoredRun) -> tuple[str, ...]:
    if run.imported:
        return (run.source.split(" ")[0],)
    return tuple(dict.fromkeys(tool for phase in run.phases for tool in phase.tools))

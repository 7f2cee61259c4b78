"""Settings that a command line leaves at the tool's default: known, not missing, as soon as another run sets them."""

from collections.abc import Iterable, Mapping, Sequence

from iosonde.core.stored import StoredRun
from iosonde.core.types import FactorValue

from . import TOOLS
from .ior import IOR, IOR_DEFAULTS

_DEFAULTS = {name: tool.defaults for name, tool in TOOLS.items()} | {IOR.name: IOR_DEFAULTS}


def list_default_settings(runs: Iterable[StoredRun]) -> list[dict[str, FactorValue]]:
    """Return for each run the settings that its command line leaves at their defaults and another run of the same tool
    states. Nothing is known of a run without a command line, or one that reads options from a file."""
    runs = list(runs)
    stated: dict[str, set[str]] = {}
    for run in runs:
        if (tool := _get_tool(run)) in _DEFAULTS:
            stated.setdefault(tool, set()).update(run.factors)
    defaults = {
        tool: {name: level for name, level in _DEFAULTS[tool].items() if name in names}
        for tool, names in stated.items()
    }
    return [_select_unstated(run, defaults.get(_get_tool(run), {})) for run in runs]


def _get_tool(run: StoredRun) -> str:
    return str(run.factors.get("tool", ""))


def _select_unstated(run: StoredRun, defaults: Mapping[str, FactorValue]) -> dict[str, FactorValue]:
    unstated = {name: level for name, level in defaults.items() if name not in run.factors}
    if not unstated or not run.imported:
        return {}
    words: Sequence[str] = str(run.facts.get("command", "")).split()
    return unstated if TOOLS[_get_tool(run)].states_all(words) else {}

"""Settings that a run leaves at the tool's default: known, not missing, as soon as another run of the tool sets them.

Its command line, or its list of options, proves that it does not set them. Where the tool's default is unknown and all
others have one level, "not given" is the second level.
"""

from collections.abc import Iterable, Mapping, Sequence

from iosonde.core.stored import StoredRun
from iosonde.core.types import FactorValue

from . import TOOLS
from .ior import IOR, IOR_DEFAULTS

# A fact of runs whose output lists all options: one that is absent was not set.
STATES_ALL_OPTIONS = "states_all_options"
NOT_GIVEN = "not given"
_DEFAULTS = {name: tool.defaults for name, tool in TOOLS.items()} | {IOR.name: IOR_DEFAULTS}


def list_default_settings(runs: Iterable[StoredRun]) -> list[dict[str, FactorValue]]:
    """Return for each run the settings that it provably leaves at their defaults and another run of the same tool
    states. Nothing is known of a run without a list of options, or one that reads options from a file."""
    runs = list(runs)
    stated: dict[str, dict[str, set[FactorValue]]] = {}
    for run in runs:
        if (tool := _get_tool(run)) in _DEFAULTS:
            for name, level in run.factors.items():
                stated.setdefault(tool, {}).setdefault(name, set()).add(level)
    defaults = {tool: _choose_defaults(tool, levels) for tool, levels in stated.items()}
    return [_select_unstated(run, defaults.get(_get_tool(run), {})) for run in runs]


def _choose_defaults(tool: str, stated: Mapping[str, set[FactorValue]]) -> dict[str, FactorValue]:
    """Return the level of each stated setting where it is absent; options without a known default have NOT_GIVEN, if it
    does not stand among numbers."""
    known, options = _DEFAULTS[tool], TOOLS[tool].by_setting
    constant = [
        name for name, levels in stated.items() if len(levels) == 1 and name in options and options[name].is_read
    ]
    return {name: known.get(name, NOT_GIVEN) for name in stated if name in known or name in constant}


def _get_tool(run: StoredRun) -> str:
    return str(run.factors.get("tool", ""))


def _select_unstated(run: StoredRun, defaults: Mapping[str, FactorValue]) -> dict[str, FactorValue]:
    unstated = {name: level for name, level in defaults.items() if name not in run.factors}
    if not unstated or not run.imported:
        return {}
    words: Sequence[str] = str(run.facts.get("command", "")).split()
    is_proved = bool(run.facts.get(STATES_ALL_OPTIONS)) or TOOLS[_get_tool(run)].states_all(words)
    return unstated if is_proved else {}

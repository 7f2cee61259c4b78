"""``${NAME}`` in commands and workload settings: the valid names, and their values. Pure functions.

Only ``${NAME}`` in braces is ours. An unknown name is an error, so that a typo does not become an empty word in the
shell. Everything else is left to the shell: ``$NAME`` without braces, ``${NAME:-default}`` and its relatives, ``$(…)``;
``$${NAME}`` becomes the shell's own ``${NAME}``.
"""

import difflib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from iosonde.core.errors import InputError
from iosonde.core.types import FactorValue, Trial, level_text

# Names of a trial: the same on all ranks.
TRIAL = (
    "RANKS",
    "NODES",
    "RANKS_PER_NODE",
    "TARGET",
    "TARGET_ROOT",
    "TRIAL",
    "REPETITION",
    "SEED",
    "MACHINEFILE",
    "IOZONE_CLIENTS",
)
# Names of a rank. NODENAME is the node's number from 0, as in the thesis; NODE_INDEX is the same under its right name.
RANK = ("NODENAME", "NODE_INDEX", "HOSTNAME", "RANK", "LOCAL_RANK")
LEVEL = "LEVEL"
# Those that identify a node, whatever runs on it.
OF_NODE = ("NODENAME", "NODE_INDEX", "HOSTNAME")

# Values that are names of the system, not the user's own words: a shell must not split them.
NAMES_OF_FILES = ("TARGET", "TARGET_ROOT", "MACHINEFILE", "IOZONE_CLIENTS", "HOSTNAME")

# Characters without a meaning in any shell, quoted or not (as shlex.quote; letters of any language).
_PLAIN = re.compile(r"[\w@%+=:,./-]*")
_OURS = re.compile(r"\$?\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def fill(text: str, values: Mapping[str, FactorValue]) -> str:
    """Return ``text`` with every ``${NAME}`` replaced by its value. Raises InputError for an unknown name, with the
    nearest."""

    def substitute(match: re.Match[str]) -> str:
        text = match.group()
        return text[1:] if text.startswith("$$") else level_text(_look_up(match.group(1), values))

    return _OURS.sub(substitute, text)


def list_placeholders(text: str) -> list[str]:
    """List the placeholders in ``text``, in order, each once."""
    names = (match.group(1) for match in _OURS.finditer(text) if not match.group().startswith("$$"))
    return list(dict.fromkeys(names))


def check_placeholders(text: str, names: Iterable[str], where: str = "") -> None:
    """Raise InputError, with ``where`` as its prefix, if ``text`` contains a placeholder that is not in ``names``."""
    values = dict.fromkeys(names)
    for name in list_placeholders(text):
        try:
            _look_up(name, values)
        except InputError as error:
            raise (error.prefixed(where) if where else error) from None


def check_plain(command: str, values: Mapping[str, FactorValue], where: str = "") -> None:
    """Raise InputError if ``command`` pastes a name into the shell's line that the shell would split or run.

    The user's quotes do not help: the shell still expands ``$(…)`` in ``"${TARGET}"``. Levels are the user's own words,
    and are not checked.
    """
    for name in list_placeholders(command):
        text = level_text(values.get(name)) if name in NAMES_OF_FILES else ""
        if _PLAIN.fullmatch(text):
            continue
        odd = next(char for char in text if not _PLAIN.fullmatch(char))
        error = InputError(
            "unsafe-shell-text",
            "${{{name}}} is '{path}', and a shell interprets {character} in it",
            'write "$IOSONDE_{name}" instead, with the quotes; or give the directory a plain name (mount --bind)',
            name=name,
            path=text,
            character="a blank" if odd == " " else repr(odd),
        )
        raise error.prefixed(where) if where else error


def list_command_names(factors: Iterable[str]) -> tuple[str, ...]:
    """List the names that a command may use in an experiment with these factors."""
    return (*TRIAL, *RANK, *factors)


def fill_typed(value: Any, values: Mapping[str, FactorValue]) -> Any:
    """Fill placeholders in a setting of a native workload, through lists and dicts.

    A value that is only ``${record_size}`` becomes the level itself, with its type; inside other text it becomes text.
    """
    if isinstance(value, str):
        match = _OURS.fullmatch(value)
        return _look_up(match.group(1), values) if match and not value.startswith("$$") else fill(value, values)
    if isinstance(value, dict):
        return {key: fill_typed(item, values) for key, item in value.items()}
    return [fill_typed(item, values) for item in value] if isinstance(value, (list, tuple)) else value


# The Python that runs iosonde on the node, so that commands find iosonde's programs wherever it is installed.
PYTHON_VARIABLE = "IOSONDE_PYTHON"


def values_to_environment(values: Mapping[str, FactorValue]) -> dict[str, str]:
    """Return the values as variables ``IOSONDE_NAME``, in which blanks and quotes need no quoting."""
    return {
        f"IOSONDE_{re.sub('[^A-Za-z0-9_]', '_', name).upper()}": level_text(value) for name, value in values.items()
    }


def build_trial_values(trial: Trial, root: Path | None) -> dict[str, FactorValue]:
    """Return the placeholder values of a trial, including its factors. ``root`` is its directory, below
    TARGET/iosonde-ID. The rest of TRIAL and RANK is known on a rank only."""
    nodes, per_node = trial.nodes, trial.ranks_per_node
    return trial.factors | {
        "RANKS": nodes * per_node,
        "NODES": nodes,
        "RANKS_PER_NODE": per_node,
        **({"TARGET": str(root), "TARGET_ROOT": str(root.parents[1])} if root else {}),
        "TRIAL": trial.index,
        "REPETITION": trial.repetition,
        "SEED": trial.seed,
    }


def add_node_values(values: Mapping[str, FactorValue], node: int, host: str) -> dict[str, FactorValue]:
    """Return ``values`` with the names of a node."""
    return {**values, "NODENAME": node, "NODE_INDEX": node, "HOSTNAME": host}


def _look_up(name: str, values: Mapping[str, FactorValue]) -> FactorValue:
    if name in values:
        return values[name]
    near = difflib.get_close_matches(name, values, n=1, cutoff=0.5) or [
        candidate for candidate in values if candidate.lower() == name.lower()
    ]
    raise InputError(
        "unknown-placeholder",
        "unknown placeholder ${{{name}}}",
        ("did you mean ${{{nearest}}}? " if near else "available: {names}. ")
        + "Write a variable of the shell's own as $${{{name}}}",
        name=name,
        nearest=near[0] if near else "",
        names=", ".join(values),
    )

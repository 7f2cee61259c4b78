"""User-level benchmarks as ready-made experiments: ``user:cp`` … and, against a load elsewhere, ``interference:cp`` …

They are those of the Ficus measurements: cp, find, findgrep, grep, ls, mab, rcp, rm. mab is the modified Andrew
benchmark (Howard et al. 1988, ACM TOCS 6, 51-81; Ousterhout 1990). An experiment is a document like an experiment file:
options are factors, so that ``--set`` changes them. Every step checks its work, or a tear-down step does: a benchmark
that failed quickly is not fast.

Each rank works in its own directory on its own tree: ``source_tree`` writes it, with its known contents.
"""

from typing import Any

from iosonde.core.errors import InputError
from iosonde.measure.placeholders import PYTHON_VARIABLE
from iosonde.measure.user_commands import BENCHMARKS, GO, NAMES, PLACE, Steps
from iosonde.measure.victim_program import GO_THERE, ON_TARGET

USER, INTERFERENCE = "user", "interference"
_FETCHING = ("rcp", "all")
_WHO_FETCHES = '[ "$IOSONDE_RANK" -eq 0 ] || [ "${load}" = all ] || exit 0; '  # victim, and such a load
Document = dict[str, Any]
_FILES = 100
KEY = "benchmark"  # of an experiment file
ALL = "all"  # in sequence on the same tree, which the last one removes


def is_benchmark(name: str) -> bool:
    """Return whether a word names a benchmark, known or not, rather than a command or a file."""
    return name.startswith((f"{USER}:", f"{INTERFERENCE}:"))


def find_benchmark(name: str) -> Document:
    """Return the experiment of this name, without target, nodes and repetitions. Raises InputError for an unknown
    one."""
    kind, _, which = name.partition(":")
    if kind not in (USER, INTERFERENCE) or (which not in BENCHMARKS and which != ALL):
        choices = f"{', '.join(NAMES)}, or {ALL} of them, as {USER}:cp or {INTERFERENCE}:cp"
        raise InputError(
            "unknown-benchmark",
            "unknown benchmark '{benchmark}'",
            "take one of: {allowed}",
            benchmark=name,
            allowed=choices,
        )
    return _build_interference(which) if kind == INTERFERENCE else _build_user(which)


def merge_benchmark(document: Document) -> Document:
    """Merge an experiment file with the benchmark that its key ``benchmark`` names. The file's keys replace the
    benchmark's, and extend its ``factors``. Raises InputError."""
    if KEY not in document:
        return document
    base = find_benchmark(str(document[KEY]))
    if twice := next((key for key in ("steps", "set_up", "tear_down") if key in document), None):
        raise InputError(
            "conflicting-keys",
            "{key} and {other_key} both define the trial",
            "keep one of them",
            key=KEY,
            other_key=twice,
        )
    overrides = {key: value for key, value in document.items() if key != KEY}
    return {**base, **overrides, "factors": {**base["factors"], **(overrides.get("factors") or {})}}


def _build_steps(which: str) -> tuple[Steps, list[str]]:
    """Return the timed steps, and the checks afterwards."""
    every = [BENCHMARKS[name] for name in (NAMES if which == ALL else (which,))]
    return [step for steps, _ in every for step in steps], [check for _, checks in every for check in checks]


def _build_user(which: str) -> Document:
    steps, checks = _build_steps(which)
    away, home = _build_remote_steps(which)
    return {
        "name": f"{USER}:{which}",
        "factors": _build_factors(which),
        "set_up": [
            _build_step_on_all("tree", _build_make_command()),
            *away,
            _build_step_on_all("cache", _build_cache_command()),
        ],
        "steps": [_build_step_on_all(*step) for step in steps],
        "tear_down": [*(_build_step_on_all("check", check) for check in checks), *home],
    }


def _build_interference(which: str) -> Document:
    """Build the benchmark on the first node only, with a load on all others, or none, in random order within each
    block. The load ``all`` runs all benchmarks in turn, including rcp if this one fetches from another node."""
    steps, checks = _build_steps(which)
    away, home = _build_remote_steps(which, _WHO_FETCHES)
    where = {"load": ["off", "on"], "load_where": ["target"], "victim_where": [ON_TARGET]}
    return {
        "name": f"{INTERFERENCE}:{which}",
        "factors": _build_factors(which) | where,
        "set_up": [
            _build_victim_step("victim", _build_victim_command("make")),
            *_place_steps([_build_step_on_all("tree", _build_make_command()), *away]),
            _build_step_on_all("load", _build_load_command("start", which)),
            *_place_steps([_build_victim_step("cache", _build_cache_command())]),
        ],
        "steps": _place_steps([_build_victim_step(*step) for step in steps]),
        "tear_down": [
            _build_step_on_all("load_end", _build_load_command("stop", which)),
            *_place_steps([*(_build_victim_step("check", check) for check in checks), *home]),
            _build_victim_step("victim_end", _build_victim_command("remove")),
        ],
    }


def _build_factors(which: str) -> dict[str, Any]:
    return {"files": [_FILES], "cache": ["warm"]} | ({"remote": ["localhost"]} if which in _FETCHING else {})


def _build_step_on_all(name: str, command: str) -> Document:
    return {"name": name, "command": command, "on": "all"}


def _build_victim_step(name: str, command: str) -> Document:
    return {"name": name, "command": command, "on": "single"}


def _place_steps(steps: list[Document]) -> list[Document]:
    """Place steps: the victim's where it works, others on the target."""
    return [step | {"command": GO_THERE + step["command"]} for step in steps]


def _build_victim_command(what: str) -> str:
    return _build_program_command("victim_program", f'{what} --where "${{victim_where}}" --trial "$IOSONDE_TARGET"')


def _build_program_command(module: str, words: str) -> str:
    return f'"${PYTHON_VARIABLE}" -m iosonde.measure.{module} {words}'


def _build_make_command() -> str:
    return _build_program_command("tree_program", f'make {PLACE} --files "${{files}}"')


def _build_cache_command() -> str:
    return _build_program_command("tree_program", f'cache "${{cache}}" {PLACE}/tree')


def _build_load_command(what: str, which: str) -> str:
    words = f'{what} --place {PLACE} --level "${{load}}" --rank "$IOSONDE_RANK" --victims 1'
    if what == "start":
        words += ' --where "${load_where}"' + (' --remote "${remote}"' if which in _FETCHING else "")
    return _build_program_command("load_program", words)


def _build_remote_steps(which: str, who: str = "") -> tuple[list[Document], list[Document]]:
    """Build the steps of rcp that copy the tree to a temporary directory of the other node before, and remove it after.
    ``who``: a test that ends a rank's step if it fetches nothing."""
    if which not in _FETCHING:
        return [], []
    ssh = 'ssh -o BatchMode=yes "${remote}"'
    there = f'{who}{GO}{ssh} mktemp -d /tmp/iosonde-rcp-XXXXXXXX >away && scp -Bqr tree "${{remote}}:$(cat away)/"'
    # Removes only the directory that mktemp created.
    gone = f'{who}{GO}case "$(cat away)" in /tmp/iosonde-rcp-????????) {ssh} rm -r "$(cat away)";; *) exit 1;; esac'
    return [_build_step_on_all("take_away", there)], [_build_step_on_all("remove_there", gone)]

"""User-level benchmarks as experiments, ready made: ``user:cp`` … and, against a load elsewhere, ``interference:cp`` …

They are those of the Ficus measurements (cp, find, findgrep, grep, ls, mab, rcp, rm; mab is the modified Andrew
benchmark: Howard et al. 1988, ACM TOCS 6, 51-81; Ousterhout 1990). An experiment is a document, as of an experiment
file: what can be chosen is a factor, so that ``--set`` changes it. Every step checks what it did, or a tear-down step
does: a benchmark that failed quickly is not fast.

Each rank works in a directory of its own on a tree of its own: ``source_tree`` writes it, with what is known of it.
"""

from __future__ import annotations

import shlex
import sys
from typing import Any

from iosonde.core.errors import InputError

USER, INTERFERENCE = "user", "interference"
_FETCHING = ("rcp", "all")
Document = dict[str, Any]
Steps = list[tuple[str, str]]

# Paths come from the environment and not from ${…}: they need no quoting then, whatever they are called.
_PLACE = '"$IOSONDE_TARGET/rank-$IOSONDE_RANK"'
_GO = f"cd {_PLACE} && "
_SAME = "sha256sum --quiet --check ../known/sums"
_ENTRIES = '[ "$(find . | wc -l)" -eq "$(($(cat ../known/entries) + 1))" ]'
# rsync where it is, else scp. The same program does it in every trial: it is found by the shell of the same node.
_RCP = (
    'from="${remote}:$(cat away)/tree" && if command -v rsync >/dev/null; '
    'then rsync -a -e \'ssh -o BatchMode=yes\' "$from/" fetched; else scp -Bqr "$from" fetched; fi'
)
_FILES = 100


def _counted(command: str, known: str) -> str:
    """The command, whose last number must be the known one."""
    right = f"$(cat known/{known})"
    return f'{_GO}n=$({command}) && [ "$n" -eq "{right}" ] || {{ echo "$n found, not {right}"; exit 1; }}'


# name → (what is timed, what is checked afterwards). find's + and not -exec … ;: one process for many files.
_BENCHMARKS: dict[str, tuple[Steps, list[str]]] = {
    "cp": (
        [("cp", f"{_GO}cp -R tree copy"), ("cp_flush", f"{_GO}sync -f .")],
        [f"{_GO}cd copy && {_SAME} && {_ENTRIES}"],
    ),
    "find": ([("find", _counted("find tree -mindepth 1 | wc -l", "entries"))], []),
    "findgrep": ([("findgrep", _counted("find tree -type f -exec grep -h kangaroo {} + | wc -l", "needles"))], []),
    "grep": (
        [("grep", _counted('grep -hs kangaroo "tree/$(cat known/first_directory)"/* | wc -l', "first_needles"))],
        [],
    ),
    "ls": ([("ls", _counted("ls -lAR tree | grep -c '^-'", "files"))], []),
    "mab": (
        [
            ("mab_mkdir", f"{_GO}mkdir work && cd work && xargs mkdir -p <../known/directories_list"),
            ("mab_copy", f"{_GO}cp -R tree/. work"),
            ("mab_scan", _counted("find work -type f -exec ls -ld {} + | wc -l", "files")),
            ("mab_read", _counted("find work -type f -exec cat {} + | wc -c", "bytes")),
            ("mab_compile", f"{_GO}cd work && sh build.sh"),
            ("mab_flush", f"{_GO}sync -f ."),
        ],
        [f"{_GO}cd work && {_SAME}", f'{_GO}[ "$(work/program)" = "$(cat known/answer)" ]'],
    ),
    "rcp": (
        [("rcp", _GO + _RCP), ("rcp_flush", f"{_GO}sync -f .")],
        [f"{_GO}cd fetched && {_SAME} && {_ENTRIES}"],
    ),
    "rm": ([("rm", f"{_GO}rm -r tree && [ ! -e tree ]"), ("rm_flush", f"{_GO}sync -f .")], []),
}
NAMES = tuple(sorted(_BENCHMARKS))
KEY = "benchmark"  # of an experiment file
ALL = "all"  # one after another on the same tree, which the last one removes


def is_one(name: str) -> bool:
    """Whether a word names a benchmark, right or wrong, and not a command or a file."""
    return name.startswith((f"{USER}:", f"{INTERFERENCE}:"))


def find(name: str) -> Document:
    """The experiment of this name, without target, nodes and repetitions. Raises InputError for one nobody knows."""
    kind, _, which = name.partition(":")
    if kind not in (USER, INTERFERENCE) or (which not in _BENCHMARKS and which != ALL):
        known = f"{', '.join(NAMES)}, or {ALL} of them, as {USER}:cp or {INTERFERENCE}:cp"
        raise InputError(f"there is no benchmark '{name}'", f"take one of: {known}")
    return _interference(which) if kind == INTERFERENCE else _user(which)


def joined(document: Document) -> Document:
    """An experiment file whose key ``benchmark`` names one: what the file says takes the place of what the benchmark
    has, and joins it in ``factors``. Raises InputError."""
    if KEY not in document:
        return document
    found = find(str(document[KEY]))
    if twice := next((key for key in ("steps", "set_up", "tear_down") if key in document), None):
        raise InputError(f"{KEY} and {twice}: two things say what a trial does", "keep one of them")
    said = {key: value for key, value in document.items() if key != KEY}
    return {**found, **said, "factors": {**found["factors"], **(said.get("factors") or {})}}


def _steps_of(which: str) -> tuple[Steps, list[str]]:
    """What is timed, and what is checked afterwards."""
    every = [_BENCHMARKS[name] for name in (NAMES if which == ALL else (which,))]
    return [step for steps, _ in every for step in steps], [check for _, checks in every for check in checks]


def _user(which: str) -> Document:
    steps, checks = _steps_of(which)
    away, home = _remote(which)
    return {
        "name": f"{USER}:{which}",
        "factors": _factors(which),
        "set_up": [_all("tree", _make()), *away, _all("cache", _cache())],
        "steps": [_all(*step) for step in steps],
        "tear_down": [*(_all("check", check) for check in checks), *home],
    }


def _interference(which: str) -> Document:
    """The benchmark on the first node only; a load on all others, or none, in random order within each block."""
    steps, checks = _steps_of(which)
    away, home = _remote(which, "single")
    return {
        "name": f"{INTERFERENCE}:{which}",
        "factors": _factors(which) | {"load": ["off", "on"], "load_where": ["target"]},
        "set_up": [
            _all("tree", _make()),
            *away,
            _all("load", _load("start")),
            _all("cache", _cache()) | {"on": "single"},
        ],
        "steps": [_all(*step) | {"on": "single"} for step in steps],
        "tear_down": [
            _all("load_end", _load("stop")),
            *(_all("check", check) | {"on": "single"} for check in checks),
            *home,
        ],
    }


def _factors(which: str) -> dict[str, Any]:
    return {"files": [_FILES], "cache": ["warm"]} | ({"remote": ["localhost"]} if which in _FETCHING else {})


def _all(name: str, command: str) -> Document:
    return {"name": name, "command": command, "on": "all"}


def _program(module: str, words: str) -> str:
    return f"{shlex.quote(sys.executable)} -m iosonde.measure.{module} {words}"


def _make() -> str:
    return _program("tree_program", f'make {_PLACE} --files "${{files}}"')


def _cache() -> str:
    return _program("tree_program", f'cache "${{cache}}" {_PLACE}/tree')


def _load(what: str) -> str:
    words = f'{what} --place {_PLACE} --level "${{load}}" --rank "$IOSONDE_RANK" --victims 1'
    return _program("load_program", words + (' --where "${load_where}"' if what == "start" else ""))


def _remote(which: str, on: str = "all") -> tuple[list[Document], list[Document]]:
    """For rcp: the tree is taken to a temporary directory of the other node before, and removed there after."""
    if which not in _FETCHING:
        return [], []
    ssh = 'ssh -o BatchMode=yes "${remote}"'
    there = f'{_GO}{ssh} mktemp -d /tmp/iosonde-rcp-XXXXXXXX >away && scp -Bqr tree "${{remote}}:$(cat away)/"'
    # What is removed is what mktemp named, and nothing else.
    gone = f'{_GO}case "$(cat away)" in /tmp/iosonde-rcp-????????) {ssh} rm -r "$(cat away)";; *) exit 1;; esac'
    return [_all("take_away", there) | {"on": on}], [_all("remove_there", gone) | {"on": on}]

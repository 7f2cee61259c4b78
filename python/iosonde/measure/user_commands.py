"""Shell commands of user-level benchmarks: of the measured rank, and of a load that does the same.

They work in the directory ``$IOSONDE_TARGET/rank-$IOSONDE_RANK``: it holds a ``tree``, and in ``known`` its properties
(``source_tree``). rcp takes its tree from the host ``${remote}``.
"""

import shlex

Steps = list[tuple[str, str]]

# Paths come from the environment, not from ${…}, and so need no quoting, whatever their names.
PLACE = '"$IOSONDE_TARGET/rank-$IOSONDE_RANK"'
GO = f"cd {PLACE} && "
_SAME = "sha256sum --quiet --check ../known/sums"
_ENTRIES = '[ "$(find . | wc -l)" -eq "$(($(cat ../known/entries) + 1))" ]'
# rsync if available, else scp. The same node's shell chooses, so every trial uses the same program.
_RCP = (
    'from="${remote}:$(cat away)/tree" && if command -v rsync >/dev/null; '
    'then rsync -a -e \'ssh -o BatchMode=yes\' "$from/" fetched; else scp -Bqr "$from" fetched; fi'
)


def _check_count(command: str, expected: str) -> str:
    """Return the command, with a check that its last number is the known one."""
    right = f"$(cat known/{expected})"
    return f'{GO}n=$({command}) && [ "$n" -eq "{right}" ] || {{ echo "$n found, not {right}"; exit 1; }}'


# name → (timed command, later check). find's + instead of -exec … ;: one process for many files.
BENCHMARKS: dict[str, tuple[Steps, list[str]]] = {
    "cp": (
        [("cp", f"{GO}cp -R tree copy"), ("cp_flush", f"{GO}sync -f .")],
        [f"{GO}cd copy && {_SAME} && {_ENTRIES}"],
    ),
    "find": ([("find", _check_count("find tree -mindepth 1 | wc -l", "entries"))], []),
    "findgrep": ([("findgrep", _check_count("find tree -type f -exec grep -h kangaroo {} + | wc -l", "needles"))], []),
    "grep": (
        [("grep", _check_count('grep -hs kangaroo "tree/$(cat known/first_directory)"/* | wc -l', "first_needles"))],
        [],
    ),
    "ls": ([("ls", _check_count("ls -lAR tree | grep -c '^-'", "files"))], []),
    "mab": (
        [
            ("mab_mkdir", f"{GO}mkdir work && cd work && xargs mkdir -p <../known/directories_list"),
            ("mab_copy", f"{GO}cp -R tree/. work"),
            ("mab_scan", _check_count("find work -type f -exec ls -ld {} + | wc -l", "files")),
            ("mab_read", _check_count("find work -type f -exec cat {} + | wc -c", "bytes")),
            ("mab_compile", f"{GO}cd work && sh build.sh"),
            ("mab_flush", f"{GO}sync -f ."),
        ],
        [f"{GO}cd work && {_SAME}", f'{GO}[ "$(work/program)" = "$(cat known/answer)" ]'],
    ),
    "rcp": (
        [("rcp", GO + _RCP), ("rcp_flush", f"{GO}sync -f .")],
        [f"{GO}cd fetched && {_SAME} && {_ENTRIES}"],
    ),
    "rm": ([("rm", f"{GO}rm -r tree && [ ! -e tree ]"), ("rm_flush", f"{GO}sync -f .")], []),
}
NAMES = tuple(sorted(BENCHMARKS))
_FETCHING = "rcp"


def join_user_commands(remote: str = "") -> str:
    """Return all of them in turn, as one command in the directory with the tree, which is restored at the end; rcp only
    with a host ``remote`` to fetch from."""
    names = [name for name in NAMES if remote or name != _FETCHING]
    steps = [command.removeprefix(GO) for name in names for _, command in BENCHMARKS[name][0]]
    again = "mv copy tree && rm -r work" + (" fetched" if remote else "")
    return f"remote={shlex.quote(remote)}; " + " && ".join(f"( {step} )" for step in [*steps, again])

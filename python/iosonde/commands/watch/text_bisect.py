"""The lines that have Git find the commit of a change, as a script for a shell."""

import shlex
from collections.abc import Iterator

from iosonde.core.errors import InputError
from iosonde.core.stored import StoredRun
from iosonde.layout.text import escape

from .change import SeriesChange

# iosonde ends with 2 or 3 where nothing was measured, which Git would take for bad.
_SCRIPT = """\
cat >../bisect.sh <<'END'
make || exit 125
iosonde run '../base/bench.sh ${{TARGET}}' --against './bench.sh ${{TARGET}}' --target {target} \\
  --fail-if {limit} --name "$(git rev-parse --short HEAD)" --store ../bisect
code=$?
test $code -le 1 || exit 125
exit $code
END
git worktree add --detach ../base {good} && make -C ../base
git bisect start {bad} {good}
git bisect run sh ../bisect.sh"""


def bisect_lines(change: SeriesChange) -> Iterator[str]:
    """Yield a script: the good and the bad commit, the baseline, and ``git bisect run`` with 0 for good, 1 for bad and
    125 for a commit that cannot be tried. Raises InputError if the commits are unknown, or the same,
    or for a drift."""
    if change.drift:
        raise InputError(
            "bisected-drift",
            "change {id} is a drift over many nights: no single commit made it",
            "{spell.change:{id}} shows it; name a step to bisect",
            id=change.id,
        )
    good, bad = (_get_commit(change, run) for run in (change.surely_before, change.surely_after))
    if good == bad:
        raise InputError(
            "same-commit",
            "change {id} has commit {commit} on both sides: no commit made it",
            "{spell.change:{id}} lists what else changed there",
            id=change.id,
            commit=good,
        )
    yield f"# {escape(change.series.title)}: {change.word} [{change.id}]"
    yield f"# good: {escape(good)}, {change.surely_before.started_at or escape(change.surely_before.id)}"
    yield f"# bad: {escape(bad)}, {change.surely_after.started_at or escape(change.surely_after.id)}"
    target = change.surely_after.target or ""
    target = shlex.quote(target) if target.isprintable() and target else "."  # a line break could end the script
    names = {"good": shlex.quote(good), "bad": shlex.quote(bad), "limit": _quote_limit(change)}
    script = _SCRIPT.format(target=target, **names)
    yield from map(escape, script.splitlines())


def _get_commit(change: SeriesChange, run: StoredRun) -> str:
    commit = run.subject_commit.rstrip("+")
    if not commit:
        raise InputError(
            "unknown-commit",
            "the commit of {run} is unknown, so there is nothing to bisect for change {id}",
            "measure with {spell.subject_commit}; a table needs a column named commit",
            run=run.started_at or run.id,
            id=change.id,
        )
    return commit


def _quote_limit(change: SeriesChange) -> str:
    """Return the limit halfway between the good and the bad level: a share of the time or rate."""
    ratio = change.levels.ratio.value
    share = 0.05 if ratio is None or ratio <= 0 else abs(1 - ratio) / 2
    return shlex.quote(f"slower>{100 * share:.2g}%")

"""What a command loads: of a small table the imports cost more than the answer."""

import os
import subprocess
import sys

import click
import pytest
import stats_sample

from iosonde.cli.group import cli

LARGE_SCIPY = ("scipy.stats", "scipy.optimize", "scipy.sparse")  # scipy.special alone is 0.2 s of CPU


def test_a_summary_of_a_small_table_loads_nothing_large(tmp_path):
    """Most of scipy, pyarrow and pandas cost more than the answer."""
    table = tmp_path / "small.csv"
    table.write_text("fs,rate\n" + "".join(f"{'ab'[i % 2]},{100 + i % 7}\n" for i in range(12)))
    large = {*LARGE_SCIPY, "pyarrow", "pandas", "statistics", "jinja2", "yaml"}
    code = f"""
import sys
from iosonde.cli.group import run_command_line
sys.argv = ["iosonde", "summary", {str(table)!r}, "--response", "rate", "--by", "fs"]
run_command_line()
print(*sorted({large!r} & set(sys.modules)), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr.strip() == "", done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["compare", "--group", "fs", "a", "b"],
        ["rank", "--on", "fs,nodes"],
        ["regress", "--on", "fs,nodes"],
        ["anova", "--on", "fs,nodes"],
    ],
)
def test_analyses_of_a_small_table_load_of_scipy_special_alone(tmp_path, words):
    table = tmp_path / "small.csv"
    rows = [f"{'ab'[i % 2]},{1 + i // 2 % 2},{100 + 10 * (i % 2) + i * 7 % 11}\n" for i in range(48)]
    table.write_text("fs,nodes,rate\n" + "".join(rows))
    code = f"""
import sys
from iosonde.cli.group import run_command_line
sys.argv = ["iosonde", {words[0]!r}, {str(table)!r}, "--response", "rate", *{words[1:]!r}]
run_command_line()
print(*sorted({{*{LARGE_SCIPY!r}, "pyarrow", "pandas"}} & set(sys.modules)), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr.strip() == "", done.stderr


@pytest.mark.parametrize("words", [["summary"], ["compare", "--response", "create", "--group", "nodes", "1", "2"]])
def test_a_small_store_is_read_without_what_costs_more_than_reading(tmp_path, words):
    """``take`` and ``cast`` load pyarrow.compute; ``pyarrow.array`` loads pandas."""
    store = stats_sample.store(tmp_path / "s", repetitions=2)
    code = f"""
import sys
from iosonde.cli.group import run_command_line
sys.argv = ["iosonde", {words[0]!r}, {str(store.path)!r}, *{words[1:]!r}]
run_command_line()
print(*sorted({{*{LARGE_SCIPY!r}, "pyarrow.compute", "pandas"}} & set(sys.modules)), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr.strip() == "", done.stderr


@pytest.mark.parametrize(
    ("command", "before", "after"),
    [("summary", None, "1"), ("summary", "4", "4"), ("run", None, None), ("probe", None, None)],
)
def test_what_analyses_uses_one_thread_and_what_measures_leaves_the_environment_alone(
    monkeypatch, command, before, after
):
    name = "OPENBLAS_NUM_THREADS"
    monkeypatch.setenv(name, before or "")  # so that it is set back
    if before is None:
        monkeypatch.delenv(name)
    cli.get_command(click.Context(cli), command)
    assert os.environ.get(name) == after

"""What a command loads: of a small table the imports cost more than the answer."""

import subprocess
import sys

import pytest


def test_a_summary_of_a_small_table_loads_nothing_large(tmp_path):
    """scipy, numpy's masked arrays and random numbers, pyarrow and pandas cost more than the answer."""
    table = tmp_path / "small.csv"
    table.write_text("fs,rate\n" + "".join(f"{'ab'[i % 2]},{100 + i % 7}\n" for i in range(12)))
    large = {"scipy", "numpy.ma", "numpy.random", "pyarrow", "pandas", "statistics", "jinja2", "yaml"}
    code = f"""
import sys
from iosonde.cli.group import run
sys.argv = ["iosonde", "summary", {str(table)!r}, "--response", "rate", "--by", "fs"]
run()
print(*sorted({large!r} & set(sys.modules)), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr.strip() == "", done.stderr


@pytest.mark.parametrize("words", [["compare", "--group", "fs", "a", "b"], ["rank", "--on", "fs,nodes"]])
def test_compare_and_rank_of_a_small_table_load_no_scipy(tmp_path, words):
    table = tmp_path / "small.csv"
    rows = [f"{'ab'[i % 2]},{1 + i // 2 % 2},{100 + 10 * (i % 2) + i * 7 % 11}\n" for i in range(48)]
    table.write_text("fs,nodes,rate\n" + "".join(rows))
    code = f"""
import sys
from iosonde.cli.group import run
sys.argv = ["iosonde", {words[0]!r}, {str(table)!r}, "--response", "rate", *{words[1:]!r}]
run()
print(*sorted({{"scipy", "pyarrow", "pandas"}} & set(sys.modules)), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr.strip() == "", done.stderr

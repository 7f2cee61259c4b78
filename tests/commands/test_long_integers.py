"""An integer of more digits than Python converts is an error of the input, wherever it is read."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

import iosonde
from iosonde.cli.group import cli
from iosonde.core.errors import IosondeError
from messages import raises

DIGITS = "1" * 5000


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.json", '{"servers": %s}', ("bound", "--probe")),
        ("a.json", '{"nodes": %s}', ("bound", "--cluster")),
        ("a.json", '{"n": %s}', ("regress", "--sums")),
        ("a.json", '{"n": %s}', ("plot", "--bars")),
        ("a.json", '{"iosonde_model": %s}', ("predict",)),
        ("a.yaml", "repetitions: %s\n", ("plan",)),
        ("a.csv", "a,y\n1,2\n1,%s\n2,3\n2,4\n", ("summary", "--response", "y")),
    ],
)
def test_an_integer_of_very_many_digits_is_an_error_of_the_input(tmp_path, name, text, words):
    path = tmp_path / name
    path.write_text(text % DIGITS)
    result = CliRunner().invoke(cli, [*words, str(path)])
    assert isinstance(result.exception, IosondeError) and result.exception.exit_code == 2
    assert "set_int_max_str_digits" not in str(result.exception) + result.exception.hint


def test_a_factor_of_very_many_digits_is_text(tmp_path):
    path = Path(tmp_path, "a.csv")
    path.write_text(f"a,y\n1,2\n1,3\n{DIGITS},2\n{DIGITS},4\n")
    assert iosonde.summary(path, response="y", by="a").answer


def test_an_integer_of_python_with_very_many_digits_is_refused(tmp_path):
    with raises("too-many-digits"):
        iosonde.plan("sleep 0.${n}", set={"n": [1, 10**5000]}, target=str(tmp_path))

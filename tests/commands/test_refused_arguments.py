"""Arguments that no command can take: each is refused with a hint, in Python and on a terminal."""

from __future__ import annotations

import importlib
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

import iosonde
from iosonde.cli.group import cli
from iosonde.commands import get_package_name, load_abouts
from iosonde.commands.declaration import COMMANDS
from iosonde.core.errors import InputError
from iosonde.core.options import Data, Value
from messages import raises

ODD = (True, 1.5, float("nan"), float("inf"), -1, 10**400, 2**60, b"x", [None], [], {}, object(), {"a", "b"})
ODD = (*ODD, np.array(1), np.array([1.5, 2.5]), {"a": [None]}, {"a": b"x"}, "", "ü,=", "a\0b", "\ud800")
NEVER = [repr(odd) for odd in ODD if isinstance(odd, bytes | set) or type(odd) is object] + ["[None]", "{'a': [None]}"]


@pytest.mark.parametrize("folder", load_abouts())
def test_every_option_takes_or_refuses_any_value(folder):
    importlib.import_module(f"{get_package_name(folder)}.options")
    for command in COMMANDS.values():
        for option in command.declarations if f".commands.{folder}." in command.answer.__module__ else ():
            for odd in ODD if not isinstance(option, Data | Value) else ():
                instance = SimpleNamespace()
                try:
                    option.__set__(instance, odd)
                except InputError as error:
                    assert error.hint, (command.name, option.name, odd)
                else:
                    assert repr(odd) not in NEVER, (command.name, option.name, odd, vars(instance))


def test_a_required_option_is_not_none():
    for call in (
        lambda: iosonde.predict(None),
        lambda: iosonde.upgrade(cluster=None),
        lambda: iosonde.bound(cluster=3),
    ):
        with raises("wrong-argument-type"):
            call()


@pytest.mark.parametrize("path", ["a\0b", "\ud800", 300 * "x", 5000 * "x"])
def test_a_path_that_cannot_be_is_an_input_error(path):
    for call in (
        lambda: iosonde.predict(path),
        lambda: iosonde.summary(path),
        lambda: iosonde.upgrade(path),
        lambda: iosonde.bound(cluster=path),
    ):
        with pytest.raises(InputError) as caught:
            call()
        assert caught.value.hint


def test_an_unknown_keyword_names_the_one_that_it_resembles():
    with pytest.raises(TypeError, match=r"did you mean level=\?$"):
        iosonde.summary("x", levl=0.9)
    with pytest.raises(TypeError, match="'zzz'$"):
        iosonde.summary("x", zzz=1)


def test_a_list_is_given_once_and_of_other_options_the_last_counts(tmp_path):
    result = CliRunner().invoke(cli, ["rank", "x.csv", "--on", "a", "--on", "b"])
    assert (result.exception.code, result.exception.exit_code) == ("duplicate-option", 2)
    result = CliRunner().invoke(
        cli, ["plan", "--target", str(tmp_path), "--spool", "/var/tmp", "--seed", "1", "--seed", "2"]
    )
    assert result.exit_code == 0 and "seed 2" in result.output

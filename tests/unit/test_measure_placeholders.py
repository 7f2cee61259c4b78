"""What becomes of ``${NAME}``: ours is filled in or refused, everything else reaches the shell as it was."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iosonde.core.errors import InputError
from iosonde.core.types import level_text
from iosonde.measure import asked_commands, placeholders
from iosonde.measure.spec import CommandStep
from messages import raises

NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True)
LEVELS = st.one_of(st.integers(), st.booleans(), st.none(), st.floats(allow_nan=False), st.text(max_size=12))


@given(st.dictionaries(NAMES, LEVELS, min_size=1), st.data())
def test_every_known_name_is_filled_in_and_nothing_else_is_touched(values, data):
    rest = st.text(alphabet=st.characters(exclude_characters="${}"), max_size=8)
    names = data.draw(st.lists(st.sampled_from(sorted(values)), max_size=6))
    around = [data.draw(rest) for _ in range(len(names) + 1)]
    text, wanted = around[0], around[0]
    for name, after in zip(names, around[1:], strict=True):
        text += "${" + name + "}" + after
        wanted += level_text(values[name]) + after
    assert placeholders.fill(text, values) == wanted
    assert placeholders.list_placeholders(text) == list(dict.fromkeys(names))


@given(st.text(max_size=40))
def test_what_is_not_ours_is_left_alone(text):
    if not re.search(r"\$\{[A-Za-z_][A-Za-z0-9_]*\}", text):
        assert placeholders.fill(text, {}) == text


@given(st.text(max_size=20), NAMES)
def test_a_value_is_never_looked_at_again(value, name):
    """What a level contains is data: no placeholder hides in it."""
    assert placeholders.fill("${x}", {"x": value + "${" + name + "}"}) == value + "${" + name + "}"


@pytest.mark.parametrize(
    "text", ["$HOME", "${HOME:-x}", "${x%.c}", "$(echo a)", "$$", "$1", "${1}", "${}", "$ {RANK}", "awk '{print $1}'"]
)
def test_the_shells_own_reaches_the_shell(text):
    assert placeholders.fill(text, {"RANK": 1}) == text


def test_a_doubled_dollar_is_the_shells_variable():
    assert placeholders.fill("$${HOME}/${RANK}", {"RANK": 3}) == "${HOME}/3"
    placeholders.check_placeholders("$${HOME}", ())


@pytest.mark.parametrize(("wrong", "right"), [("NODNAME", "NODENAME"), ("rank", "RANK"), ("recordsize", "record_size")])
def test_a_slip_names_the_nearest(wrong, right):
    with raises("unknown-placeholder", InputError, name=wrong, nearest=right, place="step 2") as caught:
        placeholders.check_placeholders(
            f"iozone -f ${{{wrong}}}", placeholders.list_command_names(["record_size"]), "step 2"
        )
    assert caught.value.message.endswith(f" ${{{wrong}}}") and f" ${{{right}}}?" in caught.value.hint


@given(LEVELS)
def test_a_setting_that_is_only_a_placeholder_keeps_the_levels_type(level):
    filled = placeholders.fill_typed({"a": ["${x}", "n=${x}"], "b": 3, "c": None}, {"x": level})
    assert type(filled["a"][0]) is type(level)
    assert filled == {"a": [level, "n=" + level_text(level)], "b": 3, "c": None}


def test_values_are_in_the_environment_too():
    found = placeholders.values_to_environment({"NODENAME": 3, "record size": "64 KiB", "direct": True})
    assert found == {"IOSONDE_NODENAME": "3", "IOSONDE_RECORD_SIZE": "64 KiB", "IOSONDE_DIRECT": "true"}


@pytest.mark.parametrize(
    "text", ["/mnt/sp ace", "/mnt/$(id)", "/mnt/a;b", "/mnt/it's", "/mnt/`id`", "/mnt/a\nb", "/mnt/*"]
)
@pytest.mark.parametrize("command", ["ls ${TARGET}", 'ls "${TARGET}/f"', "ls '${TARGET_ROOT}'"])
def test_a_name_that_a_shell_takes_apart_is_refused_with_the_cure(text, command):
    values = {"TARGET": text, "TARGET_ROOT": text}
    with raises("unsafe-shell-text", InputError, path=text, place="step 1") as caught:
        placeholders.check_plain(command, values, "step 1")
    assert '"$IOSONDE_TARGET' in caught.value.hint
    placeholders.check_plain('ls "$IOSONDE_TARGET" $${TARGET} ${LEVEL}', values | {"LEVEL": "-o a -o b"})


@pytest.mark.parametrize("text", ["/mnt/x", "/mnt/Größe-1.0,a@b:c+d=e%f_g", "n1.example.org", ""])
def test_a_plain_name_is_taken(text):
    placeholders.check_plain("ls ${TARGET}", {"TARGET": text})


@pytest.mark.parametrize("name", ["TARGET", "TARGET_ROOT", "MACHINEFILE", "IOZONE_CLIENTS"])
def test_names_of_the_target_and_the_spool_are_looked_at_before_anything_starts(name):
    cache = SimpleNamespace(unmount="", mount="")
    commands = SimpleNamespace(
        set_up=(), steps=(CommandStep(f"ls ${{{name}}}"),), tear_down=(), controls=(), cache=cache
    )
    with raises("unsafe-shell-text", InputError, place="step 1"):
        asked_commands.check_names(commands, Path("/mnt/sp ace"), Path("/tmp/sp ace"))
    asked_commands.check_names(commands, Path("/mnt/x"), Path("/tmp/x"))

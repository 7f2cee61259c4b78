"""A request as one document: which keys the options write, which they leave, and where each value came from."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from iosonde.campaign import document
from iosonde.campaign.document import build_document
from iosonde.campaign.request import Request
from iosonde.core.message import spell
from iosonde.core.yaml_text import Document
from messages import codes, raises

STEP = {"command": "true", "parse": "auto"}


def read(text: str = "", name: str = "a.yaml", **options) -> Document:
    """The document of a file with this text, in this directory, or of the options alone."""
    if text:
        Path(name).write_text(text)
        options["what"] = name
    return build_document(Request(**options))


@pytest.fixture(autouse=True)
def here(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("options", "data"),
    [
        ({"what": "true"}, {"steps": [STEP]}),
        ({"what": "true", "on": "all", "parse": "fio"}, {"steps": [{"command": "true", "parse": "fio", "on": "all"}]}),
        ({"target": ("/t",)}, {"steps": [{"workload": "envelope"}], "target": "/t"}),
        ({"what": "true", "target": ("/t",)}, {"steps": [STEP], "target": "/t"}),
        ({"what": "true", "target": ("a=/t",)}, {"steps": [STEP], "targets": {"a": "/t"}}),
        ({"what": "true", "nodes": (1, 2), "seed": 3}, {"steps": [STEP], "nodes": [1, 2], "seed": 3}),
        ({"what": "true", "quick": True}, {"steps": [STEP], "repetitions": 2}),
        ({"what": "true", "quick": True, "repetitions": 9}, {"steps": [STEP], "repetitions": 9}),
        ({"what": "true", "quick": True, "against": "false"}, {"steps": [STEP], "against": {"command": "false"}}),
        (
            {"what": "true", "between_trials": "drop"},
            {"steps": [STEP], "cache": {"between_trials": "drop"}},
        ),
        (
            {"what": "true", "between_trials": "drop", "before_reads": "sync"},
            {"steps": [STEP], "cache": {"before_reads": "sync", "between_trials": "drop"}},
        ),
        (
            {"what": "echo ${a}", "set": ("a=1,2",)},
            {"steps": [STEP | {"command": "echo ${a}"}], "factors": {"a": [1, 2]}},
        ),
        ({"what": "true", "set": ("a=,x", "b=y")}, {"steps": [STEP], "factors": {"a": ["", "x"], "b": ["y"]}}),
    ],
)
def test_options_alone_are_a_document(options, data):
    if options.get("set") == ("a=,x", "b=y"):
        options = options | {"what": "true ${a}"}
        data = data | {"steps": [STEP | {"command": "true ${a}"}]}
    assert read(**options).data == data


ENVELOPE = {"workload": "envelope"}


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        ({}, {}),
        ({"quick": True}, {"small_files": 200, "large_file_size": 16 * 2**20}),
        ({"quick": True, "small_files": 7}, {"small_files": 7, "large_file_size": 16 * 2**20}),
        (
            {"small_files": 1, "small_size": 2, "large_files": 3, "large_size": 4},
            {"small_files": 1, "small_file_size": 2, "large_files": 3, "large_file_size": 4},
        ),
        (
            {"transfer_size": 5, "direct": True, "verify": True, "shared_writes": False},
            {"transfer_size": 5, "direct": True, "verify": True, "shared_writes": False},
        ),
        ({"cache": "warm"}, {"cache": "warm"}),
    ],
)
def test_the_envelope_has_the_settings_of_the_options(options, settings):
    made = read(target=("/t",), **options)
    assert made.data["steps"] == [ENVELOPE | settings]
    assert made.data.get("repetitions") == (2 if "quick" in options else None)
    names = {document._ENVELOPE.get(option, option) for option in options} - {"quick"}
    places = {path: place for path, place in made.places.items() if path[0] == "steps"}
    assert places.keys() == {("steps", 0, name) for name in names}
    for option in options.keys() - {"quick"}:
        assert places["steps", 0, document._ENVELOPE.get(option, option)] == f"{getattr(spell, option)}"


def test_every_step_that_is_an_envelope_and_no_other_has_the_settings():
    text = "steps: ['true', {workload: envelope, direct: false}, {workload: other, x: 1}, {workload: envelope}]\n"
    made = read(text, small_files=7, cache="warm")
    warm = {"small_files": 7, "cache": "warm"}
    other = {"workload": "other", "x": 1, "cache": "warm"}
    assert made.data["steps"] == ["true", {**ENVELOPE, "direct": False, **warm}, other, ENVELOPE | warm]
    assert {path for path, place in made.places.items() if isinstance(place, str)} == {
        *(("steps", place, "small_files") for place in (1, 3)),
        *(("steps", place, "cache") for place in (1, 2, 3)),
    }


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("options", [{"small_files": 7}, {"cache": "warm"}])
def test_settings_without_a_step_that_has_them_are_refused(native, options):
    step = "{workload: other}" if native else "'true'"
    if native and "cache" in options:
        assert read(f"steps: [{step}]\n", **options).data["steps"] == [{"workload": "other", "cache": "warm"}]
        return
    with raises("option-not-applicable", option=next(iter(options))):
        read(f"steps: [{step}]\n", **options)


@pytest.mark.parametrize(
    ("cache", "options", "regime"),
    [
        ("", {"between_trials": "drop"}, {"between_trials": "drop"}),
        ("cache: remount\n", {"between_trials": "drop"}, {"between_trials": "drop"}),
        ("cache: remount\n", {"before_reads": "x"}, {"between_trials": "remount", "before_reads": "x"}),
        (
            "cache: {between_trials: remount, mount: m, unmount: u, before_reads: r}\n",
            {"between_trials": "drop"},
            {"between_trials": "drop", "before_reads": "r"},
        ),
        (
            "cache: {between_trials: remount, mount: m, unmount: u}\n",
            {"before_reads": "x"},
            {"between_trials": "remount", "mount": "m", "unmount": "u", "before_reads": "x"},
        ),
        ("cache: 7\n", {"before_reads": "x"}, {"before_reads": "x"}),
    ],
)
def test_an_option_of_caches_replaces_what_no_longer_runs(cache, options, regime):
    made = read(f"steps: ['true']\n{cache}", **options)
    assert made.data["cache"] == regime
    [option] = options
    assert made.places["cache", option] == f"{getattr(spell, option)}"


@pytest.mark.parametrize(
    ("section", "options", "against"),
    [
        ("", {"against": "b"}, {"command": "b"}),
        ("", {"against": "b", "a_name": "A", "b_name": "B"}, {"command": "b", "a_name": "A", "b_name": "B"}),
        ("", {"against": "b", "margin": "5%", "metric": "m"}, {"command": "b", "margin": "5%", "metric": "m"}),
        ("", {"against": "b", "fail_if": ("slower>5%",)}, {"command": "b", "fail_if": ["slower>5%"]}),
        ("against: old\n", {"against": "b"}, {"command": "b"}),
        ("against: old\n", {"margin": "5%"}, {"command": "old", "margin": "5%"}),
        ("against: {factor: f, margin: 1%}\n", {"against": "b"}, {"margin": "1%", "command": "b"}),
        ("against: {factor: f, margin: 1%}\n", {"margin": "5%"}, {"factor": "f", "margin": "5%"}),
        ("against: {factor: f}\n", {}, {"factor": "f"}),
    ],
)
def test_options_of_pairs_replace_keys_of_the_section(section, options, against):
    made = read(f"steps: ['true']\n{section}", **options)
    assert made.data["against"] == against
    assert (made.places.get(("against",)) == f"{spell.against}") is bool(options)


@pytest.mark.parametrize("option", ["a_name", "b_name", "margin", "metric"])
def test_an_option_of_pairs_without_any_is_refused(option):
    with raises("option-requires-option", option=option):
        read(what="true", **{option: "x"})
    with raises("option-requires-option", option="fail_if"):
        read(what="true", fail_if=("slower>5%",))


@pytest.mark.parametrize(
    ("keys", "target", "expected"),
    [
        ("target: /old", (), {"target": "/old"}),
        ("target: /old", ("/new",), {"target": "/new"}),
        ("target: /old", ("a=/new",), {"targets": {"a": "/new"}}),
        ("targets: {a: /old}", ("/new",), {"target": "/new"}),
        ("targets: {a: /old}", ("b=/new", "c=/other"), {"targets": {"b": "/new", "c": "/other"}}),
    ],
)
def test_targets_of_the_options_replace_either_key(keys, target, expected):
    made = read(f"steps: ['true']\n{keys}\n", target=target)
    assert {key: value for key, value in made.data.items() if key.startswith("target")} == expected
    [key] = expected
    assert made.place((key,)) == (f"{spell.target}" if target else 2)


def test_levels_of_a_factor_are_replaced_and_its_commands_stay():
    text = "steps: ['echo ${a} ${b}']\nfactors:\n  a: {levels: [1], set: 'x ${level}'}\n  b: [5]\n"
    made = read(text, set=("a=2,3", "b=6"))
    assert made.data["factors"] == {"a": {"levels": [2, 3], "set": "x ${level}"}, "b": [6]}
    assert made.places["factors", "a"] == f"{spell.set:a}"
    assert ("factors", "a", "levels") not in made.places


@pytest.mark.parametrize("words", ["a", "=1", "a=", "="])
def test_what_is_no_assignment_is_refused(words):
    with raises("invalid-assignment", assignment=words):
        read(what="true ${a}", set=(words,))


@pytest.mark.parametrize(
    ("name", "flag"),
    [
        ("nodes", "nodes"),
        ("ranks_per_node", "ranks_per_node"),
        ("target", "target"),
        ("targets", "target"),
        ("repetitions", "repetitions"),
        ("abort_if", "abort_if"),
        ("small_size", "small_size"),
        ("small_file_size", "small_size"),
        ("shared_writes", "shared_writes"),
        ("large_file_size", "large_size"),
    ],
)
def test_a_setting_is_no_factor(name, flag):
    with raises("not-a-factor", name=name, flag=f"{getattr(spell, flag)}"):
        read(what="true", set=(f"{name}=1",))


@pytest.mark.parametrize(
    ("factors", "words", "suggestion"),
    [
        ("factors: {size: [1]}\n", "siez=1", "size"),  # 0.75 alike
        ("factors: {size: [1]}\n", "sxyz=1", None),
        ("factors: {size: [1]}\n", "kind=1,2", "known: size"),
        ("", "kind=1,2", "the file has none"),
    ],
)
def test_a_label_is_no_slip_and_has_one_level(factors, words, suggestion):
    text = f"steps: ['true']\n{factors}"
    if suggestion is None:
        assert words.partition("=")[0] in read(text, set=(words,)).data["factors"]
        return
    with raises("unknown-factor", factor=words.partition("=")[0], suggestion=suggestion):
        read(text, set=(words,))


def test_a_bare_command_may_have_a_factor_of_several_levels():
    assert read(what="true", set=("kind=1,2",)).data["factors"] == {"kind": [1, 2]}


@pytest.mark.parametrize(
    ("settings", "used"),
    [
        ({"steps": ["true"], "target": "/t"}, True),
        ({"steps": ["true"], "decision": {}, "file": {"name": "x"}, "questions": [{"a": 1}]}, True),
        (None, False),
    ],
)
def test_a_stored_experiment_is_the_request_that_it_came_from(settings, used):
    data = {"settings": settings, "trials": [], "created_at": "now"}
    places = {("settings", "steps"): 3, ("trials",): 4}
    unwrapped = document._unwrap_stored(Document(data, "x.json", places, "text"))
    if not used:
        assert unwrapped.data is data
        return
    kept = {key: value for key, value in settings.items() if key in ("steps", "target", "questions")}
    assert unwrapped == Document(kept, "x.json", {("steps",): 3}, "text")


@pytest.mark.parametrize("key", ["settings", "trials", "created_at"])
def test_a_document_that_lacks_a_key_is_no_stored_experiment(key):
    data = {name: {} for name in ("settings", "trials", "created_at") if name != key}
    assert document._unwrap_stored(Document(data)).data is data


@pytest.mark.parametrize(
    ("options", "code", "values"),
    [
        ({"what": "true", "file": "a.yaml"}, "conflicting-options", {"command": "true", "path": "a.yaml"}),
        ({"file": "a.yaml", "on": "all"}, "option-not-applicable", {"option": "on"}),
        ({"file": "a.yaml", "parse": "fio"}, "option-not-applicable", {"option": "parse"}),
        ({"what": "user:ls", "on": "all"}, "option-not-applicable", {"option": "on"}),
        ({"target": ("/t",), "parse": "fio"}, "option-not-applicable", {"option": "parse"}),
        ({"what": " "}, "empty-command", {}),
        ({}, "missing-target", {}),
        ({"file": "sub"}, "not-a-file", {"path": "sub"}),
        ({"file": "b.yaml"}, "no-such-file", {"path": "b.yaml", "suggestion": "a.yaml"}),
        ({"what": "zzzzzzzzz.json"}, "no-such-file", {"path": "zzzzzzzzz.json", "suggestion": "(missing)"}),
        ({"file": "absent/a.yaml"}, "no-such-file", {"suggestion": "(missing)"}),
    ],
)
def test_what_cannot_be_measured_is_refused(options, code, values):
    Path("a.yaml").write_text("steps: ['true']\n")
    Path("a.txt").touch()
    Path("sub").mkdir()
    with raises(code, **values) as caught:
        read(**options)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("word", "is_file"),
    [
        ("a.yaml", True),
        ("a.yml", True),
        ("x/b.json", True),
        ("a.txt", False),
        ("cat a.yaml", False),
        ("a b.yaml", True),
    ],
)
def test_an_argument_is_a_file_by_its_name(word, is_file):
    Path("a b.yaml").touch()
    assert document.is_file(word) is is_file


@pytest.mark.parametrize(
    ("text", "options", "code"),
    [
        ("steps: ['true']\nlab: {file_system: nfs}\n", {}, "lab-required"),
        ("steps: ['true']\nlab: {file_system: nfs}\nsettle: 3s\n", {"target": ("/t",)}, "lab-required"),
        (
            "steps: ['true']\nlab: {file_system: nfs}\nfaults: [{fault: 'kill n1'}]\n",
            {"target": ("/t",)},
            "lab-required",
        ),
    ],
)
def test_an_experiment_of_a_lab_needs_one(text, options, code):
    with raises(code, name="a.yaml"):
        read(text, **options)
    assert "lab" in read(text, **options, in_lab=True).data


def test_elsewhere_the_section_of_the_lab_is_left_out_with_a_note():
    Path("a.yaml").write_text("steps: ['true']\nlab: {file_system: nfs}\nfaults: [{fault: none}]\n")
    said = []
    made = build_document(Request(what="a.yaml", target=("/t",)), said.append)
    assert made.data == {"steps": ["true"], "target": "/t"}
    assert codes(said) == ["no-lab"]


@pytest.mark.parametrize(
    ("keys", "options"),
    [
        (["faults"], f"{spell.set:kind=none}"),
        (["settle"], "leave settle out"),
        (["faults", "settle"], "leave faults and settle out"),
    ],
)
def test_faults_are_spared_by_a_factor_or_left_out(keys, options):
    data = {"faults": [{"fault": "${kind}"}], "factors": {"kind": ["none", "kill n1"]}}
    error = document._create_lab_required_error(Document(data), keys)
    assert error.values == {"name": "FILE", "keys": " and ".join(keys), "options": options}


@pytest.mark.parametrize("target", [(), ("/t",)])
def test_a_simulated_machine_takes_the_place_of_the_target(target, monkeypatch, tmp_path):
    monkeypatch.setattr(document.tempfile, "gettempdir", lambda: str(tmp_path))
    text = "steps: ['true', {workload: path-study}, {workload: other}]\n"
    made = read(text, fake="lock", target=target)
    study, other = {"workload": "path-study", "machine": "lock"}, {"workload": "other"}
    assert made.data["steps"] == ["true", study, other]
    empty = tmp_path / f"iosonde-machines-{os.getuid()}"
    assert made.data["target"] == (target[0] if target else str(empty))
    assert empty.is_dir() is (not target)
    assert made.places["steps", 1, "machine"] == f"{spell.fake}"
    with raises("option-not-applicable", option="fake"):
        read("steps: [{workload: other}]\n", fake="lock")

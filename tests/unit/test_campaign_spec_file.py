"""Experiment files: what they mean, the way back, and what is said about those that are wrong."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iosonde.campaign.spec import check
from iosonde.campaign.spec import file as spec_file
from iosonde.core import yaml_text
from iosonde.core.problems import SpecError
from iosonde.core.types import Factor
from iosonde.measure.spec import (
    ALL,
    CACHE_DROP,
    CACHE_REMOUNT,
    EACH,
    SINGLE,
    CacheRegime,
    CommandStep,
    Control,
    NativeStep,
    Spec,
)
from messages import assert_problem, raises

TWICE = """
target: /
steps:
  - workload: envelope
  - {workload: phases, phases: [{name: open, files: a, steps: [stat]}]}
"""
IMPORTERS = ("iozone", "mdtest", "dd")


def build(text, name="a.yaml"):
    return spec_file.build_experiment(yaml_text.parse(text, name, name.endswith("json")), IMPORTERS)


def spec(text):
    return build(text).spec


def problems(text, name="a.yaml"):
    with pytest.raises(SpecError) as caught:
        build(text, name)
    return caught.value.problems


def assert_said(problem, place, key, code=None, word="", hint="", **values):
    """It is about this place, and names the ``word``."""
    assert (problem.place, problem.key) == (place, key)
    assert_problem(problem, code or problem.code, **values)
    assert word in f"{problem.key} {problem.what}" and problem.what and hint in problem.hint


def wrong(text, name="a.yaml"):
    """Everything that is said about a file."""
    with pytest.raises(SpecError) as caught:
        build(text, name)
    error = caught.value
    return "\n".join([error.message, *error.details, error.hint])


def test_a_whole_file():
    found = build("""
name: stripes
target: /
nodes: [1, 2]
ranks_per_node: 4
factors:
  record_size: [64KiB, 1MiB]
  stripe:
    levels: [1, 4]
    set: lfs setstripe -c ${LEVEL} ${TARGET}
    read: lfs getstripe -c ${TARGET}
    on: each
set_up: [mkdir -p x]
steps:
  - {command: "dd bs=${record_size}", on: each, parse: dd, timeout: 5min, expect: [0, 1], name: make}
  - {workload: envelope, large_file_size: 4MiB}
  - echo ${NODENAME}
tear_down: [{command: rm -r x, on: all}]
cache: {between_trials: remount, unmount: umount /mnt, mount: mount /mnt, before_reads: sync}
repetitions: 3
seed: 7
launcher: mpirun
hosts: [a, b]
reserve: ./reserve.sh
trial_timeout: 1h
budget: 30min
max_bytes: 1GiB
maximum: 110MB/s
store: elsewhere
""")
    assert found.spec.factors == (
        Factor("nodes", "nodes", (1, 2)),
        Factor("ranks_per_node", "ranks", (4,)),
        Factor("record_size", "bytes", (65536, 1048576)),
        Factor("stripe", "", (1, 4)),
    )
    assert found.spec.steps == (
        CommandStep("dd bs=${record_size}", EACH, "dd", 300.0, (0, 1), "make"),
        NativeStep("envelope", {"large_file_size": "4MiB"}),
        CommandStep("echo ${NODENAME}", ALL),
    )
    assert found.spec.controls == (
        Control("stripe", "lfs setstripe -c ${LEVEL} ${TARGET}", "lfs getstripe -c ${TARGET}", EACH),
    )
    assert found.spec.set_up == (CommandStep("mkdir -p x", SINGLE),)
    assert found.spec.tear_down == (CommandStep("rm -r x", ALL),)
    assert found.spec.cache == CacheRegime(CACHE_REMOUNT, "umount /mnt", "mount /mnt", "sync")
    assert (found.spec.repetitions, found.spec.seed, found.spec.hosts) == (3, 7, ("a", "b"))
    assert found.spec.trial_timeout_s == 3600
    assert found.terms.maximum == 110e6
    assert (found.terms.budget_s, found.terms.max_bytes, found.terms.store) == (1800, 2**30, "elsewhere")


def test_little_is_needed():
    found = spec("steps: [echo hi]")
    assert (found.targets, found.repetitions, found.levels("nodes"), found.design) == ({}, 6, (1,), {"kind": "full"})
    until, drop = (spec(f"steps: [echo hi]\n{keys}") for keys in ("repetitions: 2\nuntil: ci<5%", "cache: drop"))
    assert until.repetitions == 6  # the rule's pilot
    assert drop.cache == CacheRegime(CACHE_DROP)


def test_the_output_of_a_known_tool_is_read_unless_the_file_says_otherwise():
    steps = ["dd if=a", "mpirun -n 2 /opt/mdtest -n 9", "sleep 1", {"command": "dd if=a", "parse": "none"}]
    made = spec(json.dumps({"target": "/", "steps": steps, "set_up": ["dd of=a"], "tear_down": ["dd of=b"]}))
    assert [one.parse for one in made.steps] == ["auto", "auto", None, None]
    assert [one.parse for one in (*made.set_up, *made.tear_down)] == [None, None]
    assert spec(json.dumps(spec_file.spec_to_document(made))).steps == made.steps


def test_the_older_form_runs_unchanged():
    """Golden G17: parse is false by default; single and all."""
    text = json.dumps(
        {
            "commands": [
                {"type": "single", "command": "echo setup"},
                {"type": "all", "command": "echo ${NODENAME}", "parse": True},
                {"type": "single", "command": "echo done"},
            ]
        },
        indent="\t",
    )
    assert build(text, "test.json").spec.steps == (
        CommandStep("echo setup", SINGLE, None),
        CommandStep("echo ${NODENAME}", ALL, "auto"),
        CommandStep("echo done", SINGLE, None),
    )


def test_the_older_form_knows_nothing_else():
    (unknown,) = problems('{"commands": [{"type": "all", "command": "a"}], "nodes": [1]}', "a.json")
    assert_said(unknown, 1, "nodes", "unknown-key")
    kind, parse = problems('{"commands": [\n{"type": "some", "command": "a", "parse": "yes"}]}', "a.json")
    assert_said(kind, 2, "commands[0].type", "unknown-value", word="'some'")
    assert_said(parse, 2, "commands[0].parse", "wrong-type", word="'yes'")
    assert "true" in parse.hint


def test_a_slip_of_the_printed_listing_is_named():
    (slip,) = problems("steps: ['./iozone -s 1M -i0 -il -r 128']")
    assert_problem(slip, "unknown-tool-option", option="-il", key="steps[0]")
    assert "-i1" in slip.hint


@pytest.mark.parametrize(
    ("text", "place", "key", "expected"),
    [
        ("", 1, "", {"code": "empty-file"}),
        ("# nothing\n", 1, "", {"code": "empty-file"}),
        ("- a\n- b", 1, "", {"code": "not-a-mapping"}),
        ("just words", 1, "", {"code": "not-a-mapping", "word": "'just words'"}),
        ("name: x", 1, "", {"code": "missing-key", "name": "steps"}),
        ("steps: []", 1, "steps", {"code": "empty-value"}),
        ("steps:", 1, "steps", {"code": "wrong-type", "expected": "a list"}),
        (
            "target: /\nsteps:\n  - comand: ls",
            3,
            "steps[0].comand",
            {"code": "unknown-key", "word": "comand", "hint": "command"},
        ),
        (
            "steps: [{command: ls, on: both}]",
            1,
            "steps[0].on",
            {"code": "unknown-value", "allowed": "single, all, each, mpi, servers", "word": "'both'"},
        ),
        (
            "steps: [{command: ls, timeout: 12 parsecs}]",
            1,
            "steps[0].timeout",
            {"code": "invalid-duration", "duration": "12 parsecs"},
        ),
        ("steps: [{command: ls, timeout: 0s}]", 1, "steps[0].timeout", {"code": "not-positive", "quantity": "0s"}),
        ("steps: [ls]\nrepetitions: -1", 2, "repetitions", {"code": "out-of-range", "value": -1, "limit": 1}),
        (
            "steps: [ls]\nrepetitions: many",
            2,
            "repetitions",
            {"code": "wrong-type", "expected": "a whole number", "word": "'many'"},
        ),
        (
            "steps: [ls]\nnodes: [1, 2.5]",
            2,
            "nodes[1]",
            {"code": "wrong-type", "expected": "a whole number", "word": "2.5"},
        ),
        ("steps: [ls]\nnodes: [1, 1]", 2, "nodes", {"code": "duplicate-value"}),
        ("steps: [ls]\nname: 5", 2, "name", {"code": "wrong-type", "expected": "a text", "word": "5"}),
        ("steps: [ls]\nmax_bytes: lots", 2, "max_bytes", {"code": "invalid-size", "size": "lots"}),
        ("steps: [ls]\nmaximum: fast", 2, "maximum", {"code": "invalid-rate", "rate": "fast"}),
        ("steps: [ls]\nuntil: soon", 2, "until", {"code": "invalid-rule", "rule": "soon"}),
        (
            "steps: ['echo ${HOM}']",
            1,
            "steps[0]",
            {"code": "unknown-placeholder", "name": "HOM", "nearest": "HOSTNAME", "hint": "HOSTNAME"},
        ),
        ("steps: ['ls ${TARGET}']", 1, "steps[0]", {"code": "missing-target"}),
        ("steps: [{workload: envelope}]", 1, "steps[0]", {"code": "missing-target", "workload": "envelope"}),
        (
            "target: /\nsteps: [{workload: envelop}]",
            2,
            "steps[0].workload",
            {"code": "unknown-workload", "workload": "envelop", "hint": "envelope"},
        ),
        (
            "target: /\nsteps: [{workload: envelope, small_fils: 3}]",
            2,
            "steps[0].small_fils",
            {"code": "unknown-setting", "workload": "envelope"},
        ),
        (
            "target: /\nsteps: [{workload: envelope, small_files: 0}]",
            2,
            "steps[0].small_files",
            {"code": "out-of-range", "name": "small_files", "number": "0"},
        ),
        (
            "target: /\nsteps: [{workload: envelope, direct: yes}]",
            2,
            "steps[0].direct",
            {"code": "not-a-boolean", "name": "direct", "setting": "yes"},
        ),
        (
            "steps: [{command: ls, parse: iozon}]",
            1,
            "steps[0].parse",
            {"code": "unknown-importer", "importer": "iozon"},
        ),
        (
            "steps: [ls]\nfactors: {a: [1, b]}",
            2,
            "factors.a",
            {"code": "mixed-level-types", "kinds": "numbers and texts"},
        ),
        (
            "steps: [ls]\nfactors: {a: [64KiB, 3]}",
            2,
            "factors.a",
            {"code": "mixed-level-types", "kinds": "texts and numbers"},
        ),
        ("steps: ['ls ${a}']\nfactors: {a: [1KiB, 1024B]}", 2, "factors.a", {"code": "duplicate-level"}),
        ("steps: [ls]\nfactors: {reader: [1]}", 2, "factors.reader", {"code": "reserved-name", "name": "reader"}),
        (
            "steps: [ls]\nfactors: {allocation: [1]}",
            2,
            "factors.allocation",
            {"code": "reserved-name", "name": "allocation"},
        ),
        ("steps: [ls]\nfactors: {nodes: [1]}", 2, "factors.nodes", {"code": "reserved-name", "name": "nodes"}),
        ("steps: [ls]\nfactors: {TARGET: [1]}", 2, "factors.TARGET", {"code": "reserved-name", "name": "TARGET"}),
        ("steps: [ls]\nfactors: {a-b: [1]}", 2, "factors.a-b", {"code": "invalid-name"}),
        ("steps: [ls]\nfactors: {a: []}", 2, "factors.a", {"code": "empty-value"}),
        ("steps: [ls]\nfactors: {a: [1, 2]}", 2, "factors.a", {"code": "unused-factor", "factor": "a"}),
        (
            "steps: [ls]\nfactors: {a: {levels: [1], set: run it}}",
            2,
            "factors.a.set",
            {"code": "missing-placeholder", "name": "LEVEL"},
        ),
        (
            "steps: [ls]\nfactors: {a: {levels: [1], read: it, restore: false}}",
            2,
            "factors.a.restore",
            {"code": "key-requires-key"},
        ),
        ("steps: [ls]\nfactors: {health: [a, b]}", 2, "factors.health", {"code": "reserved-name", "name": "health"}),
        ("steps: [ls]\npace: soon", 2, "pace", {"code": "invalid-pace", "pace": "soon"}),
        ("steps: [ls]\nfactors: {a: {levels: [1], on: each}}", 2, "factors.a.on", {"code": "key-requires-key"}),
        (
            "steps: [ls]\ncache: {between_trials: remount, mount: x}",
            2,
            "cache",
            {"code": "key-requires-key", "missing_key": "unmount"},
        ),
        ("steps: [ls]\ncache: {between_trials: drop, mount: x}", 2, "cache.mount", {"code": "unused-command"}),
        ("steps: [ls]\ncache: {before_reads: x}", 2, "cache.before_reads", {"code": "unused-command"}),
        ("steps: [ls]\ndesign: {kind: fulll}", 2, "design.kind", {"code": "unknown-design", "kind": "fulll"}),
        (
            "steps: ['ls ${a}']\nfactors: {a: [1, 2]}\ndesign:\n  kind: full\n  constraints: [a < z]",
            5,
            "design.constraints[0]",
            {"code": "unknown-factor", "factor": "z"},
        ),
        ("steps: [ls]\nhosts: /no/such/file", 2, "hosts", {"code": "unreadable-file", "path": "/no/such/file"}),
        (TWICE, 5, "steps[1]", {"code": "duplicate-operation", "operation": "open", "first_step": "0"}),
    ],
)
def test_what_is_wrong_is_said(text, place, key, expected):
    assert_said(problems(text)[-1], place, key, **expected)


def test_every_mistake_is_listed_with_its_line():
    said = wrong("nam: x\nnodes: [0]\nsteps:\n- comand: ls\n- {command: ls, on: 3}\n")
    assert said.startswith("a.yaml has 5 mistakes")
    for line in ("a.yaml:1: nam", "a.yaml:2: nodes[0]", "a.yaml:4: steps[0].comand", "a.yaml:5: steps[1].on"):
        assert line in said


@pytest.mark.parametrize(
    ("text", "place", "key", "expected"),
    [
        ("steps: [ls]\nseed: 0755", 2, "seed", {"code": "ambiguous-number", "number": "0755"}),
        ("steps: [ls]\nseed: 1_000", 2, "seed", {"code": "ambiguous-number", "number": "1_000"}),
        ("steps: [ls]\nbudget: 12:30", 2, "budget", {"code": "ambiguous-number", "number": "12:30"}),
        ("steps: [ls]\nseed: 0x1F", 2, "seed", {"code": "ambiguous-number", "number": "0x1F"}),
        ("steps: [ls]\nbudget: .inf", 2, "budget", {"code": "ambiguous-number", "number": ".inf"}),
        ("steps: [ls]\nsteps: [rm]", 2, "steps", {"code": "duplicate-key", "first_line": 1}),
        ("steps: [ls]\nname: !!python/object/apply:os.system [ls]", 2, "name", {"code": "unsupported-tag"}),
        ("steps: [ls]\n? [a, b]\n: c", 2, "", {"code": "invalid-key"}),
        ("steps:\n\t- ls", 2, "", {"code": "tab"}),
        ("steps: [ls]\n---\nsteps: [rm]", 2, "", {"code": "several-documents"}),
        ("steps: [{command: echo ${NODENAME}}]", 1, "", {"code": "invalid-yaml"}),
        ("steps: [ls", 1, "", {"code": "invalid-yaml"}),
        ("steps: *nobody", 1, "", {"code": "invalid-yaml"}),
    ],
)
def test_traps_of_yaml_do_not_bite_silently(text, place, key, expected):
    assert_said(problems(text)[-1], place, key, **expected)


def test_on_and_no_are_words():
    found = spec("steps: [{command: 'ls ${mode}', on: single}]\nfactors: {mode: [on, off, no]}")
    assert found.steps == (CommandStep("ls ${mode}", SINGLE),)
    assert found.levels("mode") == ("on", "off", "no")


@pytest.mark.parametrize(
    ("text", "place", "key", "expected"),
    [
        ('{"steps": ["ls"],}', 1, "", {"code": "invalid-json"}),
        ('{"steps": ["ls"]', 1, "", {"code": "invalid-json"}),
        ('{"steps": ["ls"],\n "seed": NaN}', None, "", {"code": "invalid-json"}),
        ('{"steps": ["ls"],\n "steps": []}', 2, "steps", {"code": "duplicate-key", "first_line": 1}),
        ("steps: [ls]", 1, "", {"code": "invalid-json"}),
        ("", 1, "", {"code": "empty-file"}),
    ],
)
def test_json_is_checked_as_json(text, place, key, expected):
    assert_said(problems(text, "a.json")[-1], place, key, **expected)


def test_json_may_have_tabs_and_halves_of_characters():
    found = build('{\n\t"name": "\\ud83d\\ude00\\t",\t"steps": ["a\\/b"]\n}', "a.json").spec
    assert (found.name, found.steps[0].command) == ("😀\t", "a/b")


@pytest.mark.slow
def test_aliases_are_copies_and_not_bombs():
    assert spec("steps: [&a {command: ls}, *a]").steps == (CommandStep("ls", ALL),) * 2
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    for text, code in (
        ("\n".join(lines), "too-many-values"),
        ("steps: &a [*a]", "nested-too-deep"),
        ("steps: " + "[" * 5000, "nested-too-deep"),
    ):
        (problem,) = problems(text)
        assert problem.code == code


def test_files_that_are_none(tmp_path):
    path = tmp_path / "a.yaml"
    for content, code in (
        (b"\x00\x01steps", "binary-file"),
        (b"steps: [\xff]", "not-utf8"),
        (b"a" * 2**21, "file-too-large"),
    ):
        path.write_bytes(content)
        with raises(code, path=path):
            yaml_text.load(path)
    with raises("unreadable-file", reason="Is a directory"):
        yaml_text.load(tmp_path)


def test_a_setting_is_checked_at_every_cell():
    said = wrong("""
target: /
factors: {size: [64KiB, 100KiB]}
steps:
  - {workload: envelope, transfer_size: "${size}"}
""")
    assert "(at size=102400)" in said


def test_a_constraint_that_forbids_nearly_all_of_10_to_the_12_cells_is_soon_checked():
    names = [f"f{number}" for number in range(12)]
    levels = "".join(f"  {name}: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]\n" for name in names)
    last = ", ".join(f"{name}: 10" for name in names)
    found = spec(f"""
target: /
factors:
{levels}
design: {{kind: list, cells: [{{{last}}}], constraints: [{" + ".join(names)} >= 120]}}
steps:
  - {{workload: phases, phases: [{{name: open, files: "a{"".join(f"${{{name}}}" for name in names)}", steps: [stat]}}]}}
""")
    assert {*names} <= {factor.name for factor in found.factors}


words = st.text(st.characters(blacklist_categories=("Cs", "Cc"), blacklist_characters="$\x85\u2028\u2029"), min_size=1)
commands = st.builds(
    CommandStep,
    words.filter(lambda word: "iozone" not in word),
    st.sampled_from([SINGLE, ALL, EACH]),
    st.sampled_from([None, "auto", "iozone"]),
    st.none() | st.floats(0.001, 1e6),
    st.lists(st.integers(0, 255), min_size=1, max_size=3).map(tuple),
    words.map(lambda word: word[:100]) | st.just(""),
)
levels = st.one_of(
    st.lists(st.integers(-(2**53), 2**53), min_size=1, max_size=1),
    st.lists(words.filter(lambda word: not word[0].isdigit()), min_size=1, max_size=1),
)


@given(
    st.lists(commands | st.just(NativeStep("envelope", {"large_file_size": "2MiB"})), min_size=1, max_size=3).filter(
        lambda steps: sum(isinstance(step, NativeStep) for step in steps) <= 1
    ),
    st.lists(commands, max_size=2),
    levels,
    st.none() | st.sampled_from([0.05, 0.1]),
    st.none() | st.integers(0, 2**64 - 1),
)
def test_what_the_store_keeps_is_the_same_experiment_again(tmp_path_factory, steps, set_up, own, until, seed):
    made = Spec(
        targets={"": tmp_path_factory.getbasetemp().resolve()},
        steps=tuple(steps),
        factors=(
            Factor("nodes", "nodes", (1, 3)),
            Factor("ranks_per_node", "ranks", (2,)),
            Factor("f", "", tuple(own)),
        ),
        set_up=tuple(set_up),
        until=until,
        seed=seed,
        name="x",
    )
    text = json.dumps(spec_file.spec_to_document(made))
    assert spec_file.build_experiment(yaml_text.parse(text, "kept.json", as_json=True), IMPORTERS).spec == made


COLD, WARM = {"workload": "envelope"}, {"workload": "envelope", "cache": "warm"}


@pytest.mark.parametrize(
    ("cache", "steps", "expected"),
    [
        ({"between_trials": "remount"}, [COLD], [("cache", "unmount"), ("cache", "mount")]),
        ({"between_trials": "remount", "mount": "m"}, [COLD], [("cache", "unmount")]),
        ({"between_trials": "remount", "mount": "m", "unmount": "u", "before_reads": "r"}, [COLD], []),
        (
            {"between_trials": "drop", "mount": "m", "unmount": "u"},
            [COLD],
            [("cache.unmount", ""), ("cache.mount", "")],
        ),
        ({"before_reads": "r"}, [WARM, COLD], []),
        ({"before_reads": "r"}, [WARM, WARM], [("cache.before_reads", "")]),
        ({"before_reads": "r"}, ["ls"], [("cache.before_reads", "")]),
        ("drop", ["ls"], []),
    ],
)
def test_commands_of_the_cache_are_those_that_would_run(cache, steps, expected):
    document = yaml_text.Document({"cache": cache, "steps": steps}, "", {}, "")
    problems = list(check._check_cache(document))
    assert [(problem.key, problem.what.values.get("missing_key", "")) for problem in problems] == expected
    codes = {"cache": "key-requires-key"}
    assert [problem.code for problem in problems] == [codes.get(key, "unused-command") for key, _ in expected]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, ["steps[1]", "steps[0]", "steps[3]"]),
        ({"target": "/t"}, []),
        ({"targets": {"a": "/a"}}, []),
    ],
)
def test_each_step_that_needs_a_target_is_named(more, expected):
    steps = ["ls ${TARGET}", COLD, "ls ${size}", "ls ${TARGET_ROOT}/${size}"]
    problems = list(check._check_target(yaml_text.Document({"steps": steps, **more}, "", {}, "")))
    assert [(problem.key, problem.code) for problem in problems] == [(key, "missing-target") for key in expected]

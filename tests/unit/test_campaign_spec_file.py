"""Experiment files: what they mean, the way back, and what is said about those that are wrong."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iosonde.campaign.spec import file as spec_file
from iosonde.core import yaml_text
from iosonde.core.errors import InputError
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
from messages import raises

TWICE = """
target: /
steps:
  - workload: envelope
  - {workload: phases, phases: [{name: open, files: a, steps: [stat]}]}
"""
IMPORTERS = ("iozone", "mdtest", "dd")


def build(text, name="a.yaml"):
    return spec_file.build(yaml_text.parse(text, name, name.endswith("json")), IMPORTERS)


def spec(text):
    return build(text).spec


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
    assert found.spec.controls == (Control("stripe", "lfs setstripe -c ${LEVEL} ${TARGET}",
                                           "lfs getstripe -c ${TARGET}", EACH),)  # fmt: skip
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
    assert spec("steps: [echo hi]\nrepetitions: 2\nuntil: ci<5%").repetitions == 6  # the rule's pilot
    assert spec("steps: [echo hi]\ncache: drop").cache == CacheRegime(CACHE_DROP)


def test_the_output_of_a_known_tool_is_read_unless_the_file_says_otherwise():
    steps = ["dd if=a", "mpirun -n 2 /opt/mdtest -n 9", "sleep 1", {"command": "dd if=a", "parse": "none"}]
    made = spec(json.dumps({"target": "/", "steps": steps, "set_up": ["dd of=a"], "tear_down": ["dd of=b"]}))
    assert [one.parse for one in made.steps] == ["auto", "auto", None, None]
    assert [one.parse for one in (*made.set_up, *made.tear_down)] == [None, None]
    assert spec(json.dumps(spec_file.to_document(made))).steps == made.steps


def test_the_older_form_runs_unchanged():
    """Golden G17: parse is false by default; single and all."""
    text = json.dumps({"commands": [
        {"type": "single", "command": "echo setup"},
        {"type": "all", "command": "echo ${NODENAME}", "parse": True},
        {"type": "single", "command": "echo done"},
    ]}, indent="\t")  # fmt: skip
    assert build(text, "test.json").spec.steps == (
        CommandStep("echo setup", SINGLE, None),
        CommandStep("echo ${NODENAME}", ALL, "auto"),
        CommandStep("echo done", SINGLE, None),
    )


def test_the_older_form_knows_nothing_else():
    assert "there is no such key" in wrong('{"commands": [{"type": "all", "command": "a"}], "nodes": [1]}', "a.json")
    said = wrong('{"commands": [\n{"type": "some", "command": "a", "parse": "yes"}]}', "a.json")
    assert "a.json:2: commands[0].type: the text 'some' is not one of single, all" in said
    assert "commands[0].parse: expected true or false, found the text 'yes'; write true or false" in said


def test_a_slip_of_the_printed_listing_is_named():
    assert "did you mean -i1" in wrong("steps: ['./iozone -s 1M -i0 -il -r 128']")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "a.yaml:1: the file is empty"),
        ("# nothing\n", "the file is empty"),
        ("- a\n- b", "a list and not keys"),
        ("just words", "the text 'just words' and not keys"),
        ("name: x", "the key 'steps' is missing"),
        ("steps: []", "a.yaml:1: steps: it is empty"),
        ("steps:", "steps: expected a list, found nothing"),
        ("target: /\nsteps:\n  - comand: ls", "a.yaml:3: steps[0].comand: there is no such key; did you mean command?"),
        ("steps: [{command: ls, on: both}]", "'both' is not one of single, all, each"),
        ("steps: [{command: ls, timeout: 12 parsecs}]", "'12 parsecs' is not a duration"),
        ("steps: [{command: ls, timeout: 0s}]", "it must be more than 0"),
        ("steps: [ls]\nrepetitions: -1", "a.yaml:2: repetitions: -1 is less than 1"),
        ("steps: [ls]\nrepetitions: many", "expected a whole number, found the text 'many'"),
        ("steps: [ls]\nnodes: [1, 2.5]", "nodes[1]: expected a whole number, found the number 2.5"),
        ("steps: [ls]\nnodes: [1, 1]", "nodes: a value is given twice"),
        ("steps: [ls]\nname: 5", "name: expected a text, found the number 5"),
        ("steps: [ls]\nmax_bytes: lots", "'lots' is not a size"),
        ("steps: [ls]\nmaximum: fast", "'fast' is not a rate"),
        ("steps: [ls]\nuntil: soon", "'soon' is not a rule"),
        ("steps: ['echo ${HOM}']", "unknown placeholder ${HOM}"),
        ("steps: ['echo ${HOM}']", "HOSTNAME"),
        ("steps: ['ls ${TARGET}']", "${TARGET} stands for nothing: there is no target"),
        ("steps: [{workload: envelope}]", "the workload envelope needs a target"),
        ("target: /\nsteps: [{workload: envelop}]", "there is no native workload 'envelop'\ndid you mean envelope?"),
        ("target: /\nsteps: [{workload: envelope, small_fils: 3}]", "envelope has no such setting"),
        ("target: /\nsteps: [{workload: envelope, small_files: 0}]", "small_files is 0"),
        ("target: /\nsteps: [{workload: envelope, direct: yes}]", "write true or false"),
        ("steps: [{command: ls, parse: iozon}]", "there is no importer 'iozon'"),
        ("steps: [ls]\nfactors: {a: [1, b]}", "factors.a: the levels are numbers and texts together"),
        ("steps: [ls]\nfactors: {a: [64KiB, 3]}", "together"),
        ("steps: ['ls ${a}']\nfactors: {a: [1KiB, 1024B]}", "a level is given twice"),
        ("steps: [ls]\nfactors: {reader: [1]}", "'reader' is a column or a name that every run has already"),
        ("steps: [ls]\nfactors: {allocation: [1]}", "every run has already"),
        ("steps: [ls]\nfactors: {nodes: [1]}", "it has a key of its own"),
        ("steps: [ls]\nfactors: {TARGET: [1]}", "every run has already"),
        ("steps: [ls]\nfactors: {a-b: [1]}", "this is not a name"),
        ("steps: [ls]\nfactors: {a: []}", "factors.a: it is empty"),
        ("steps: [ls]\nfactors: {a: [1, 2]}", "its levels change nothing"),
        ("steps: [ls]\nfactors: {a: {levels: [1], set: run it}}", "the command does not say ${LEVEL}"),
        ("steps: [ls]\nfactors: {a: {levels: [1], read: it, restore: false}}", "nothing is set"),
        ("steps: [ls]\nfactors: {health: [a, b]}", "'health' is a column or a name that every run has already"),
        ("steps: [ls]\npace: soon", "'soon' is not a pace"),
        ("steps: [ls]\nfactors: {a: {levels: [1], on: each}}", "nothing is set or read"),
        ("steps: [ls]\ncache: {between_trials: remount, mount: x}", "remount needs the command 'unmount'"),
        ("steps: [ls]\ncache: {between_trials: drop, mount: x}", "it would never run"),
        ("steps: [ls]\ncache: {before_reads: x}", "no step is a native workload"),
        ("steps: [ls]\ndesign: {kind: fulll}", "design.kind: 'fulll' is not a design"),
        ("steps: ['ls ${a}']\nfactors: {a: [1, 2]}\ndesign:\n  kind: full\n  constraints: [a < z]", "a.yaml:5: design"),
        ("steps: [ls]\nhosts: /no/such/file", "a.yaml:2: hosts"),
        (TWICE, "'open' is measured twice (steps[0] too)"),
    ],
)
def test_what_is_wrong_is_said(text, says):
    assert says in wrong(text)


def test_every_mistake_is_listed_with_its_line():
    said = wrong("nam: x\nnodes: [0]\nsteps:\n- comand: ls\n- {command: ls, on: 3}\n")
    assert said.startswith("a.yaml has 5 mistakes")
    for line in ("a.yaml:1: nam", "a.yaml:2: nodes[0]", "a.yaml:4: steps[0].comand", "a.yaml:5: steps[1].on"):
        assert line in said


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("steps: [ls]\nseed: 0755", "a.yaml:2: seed: 0755: a number with leading zeros is octal to some readers"),
        ("steps: [ls]\nseed: 1_000", "1_000: not every reader takes this for a number"),
        ("steps: [ls]\nbudget: 12:30", "12:30: this is a number to the base of 60 to some readers"),
        ("steps: [ls]\nseed: 0x1F", "0x1F: not every reader takes this"),
        ("steps: [ls]\nbudget: .inf", "not a number to measure with"),
        ("steps: [ls]\nsteps: [rm]", "a.yaml:2: steps: the key is given twice, first in line 1"),
        ("steps: [ls]\nname: !!python/object/apply:os.system [ls]", "the tag"),
        ("steps: [ls]\n? [a, b]\n: c", "a key is not text"),
        ("steps:\n\t- ls", "a.yaml:2: a tab stands where YAML wants spaces"),
        ("steps: [ls]\n---\nsteps: [rm]", "a.yaml:2: a second document begins here"),
        ("steps: [{command: echo ${NODENAME}}]", "inside { } and [ ] put ${NAME} in quotes"),
        ("steps: [ls", "a.yaml:1: this is not YAML"),
        ("steps: *nobody", "this is not YAML: found undefined alias"),
    ],
)
def test_traps_of_yaml_do_not_bite_silently(text, says):
    assert says in wrong(text)


def test_on_and_no_are_words():
    found = spec("steps: [{command: 'ls ${mode}', on: single}]\nfactors: {mode: [on, off, no]}")
    assert found.steps == (CommandStep("ls ${mode}", SINGLE),)
    assert found.levels("mode") == ("on", "off", "no")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"steps": ["ls"],}', "this is not JSON"),
        ('{"steps": ["ls"]', "a.json:1: this is not JSON"),
        ('{"steps": ["ls"],\n "seed": NaN}', "NaN is not a value"),
        ('{"steps": ["ls"],\n "steps": []}', "a.json:2: steps: the key is given twice"),
        ("steps: [ls]", "this is not JSON"),
        ("", "the file is empty"),
    ],
)
def test_json_is_checked_as_json(text, says):
    assert says in wrong(text, "a.json")


def test_json_may_have_tabs_and_halves_of_characters():
    found = build('{\n\t"name": "\\ud83d\\ude00\\t",\t"steps": ["a\\/b"]\n}', "a.json").spec
    assert (found.name, found.steps[0].command) == ("😀\t", "a/b")


@pytest.mark.slow
def test_aliases_are_copies_and_not_bombs():
    assert spec("steps: [&a {command: ls}, *a]").steps == (CommandStep("ls", ALL),) * 2
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    assert "too many values" in wrong("\n".join(lines))
    assert "nested too deeply" in wrong("steps: &a [*a]")
    assert "nested too deeply" in wrong("steps: " + "[" * 5000)


def test_files_that_are_none(tmp_path):
    for content, says in ((b"\x00\x01steps", "is binary"), (b"steps: [\xff]", "not UTF-8"), (b"a" * 2**21, "1 MiB")):
        path = tmp_path / "a.yaml"
        path.write_bytes(content)
        with pytest.raises(InputError, match=says):
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
    assert "not a multiple of the transfer size (102400 B) (at size=102400)" in said


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
    text = json.dumps(spec_file.to_document(made))
    assert spec_file.build(yaml_text.parse(text, "kept.json", as_json=True), IMPORTERS).spec == made

"""Placeholders that are a tool's settings: ``-t ${t}`` is the transfer size."""

from __future__ import annotations

import pytest
import store_samples

from iosonde.core.stored import StoredRun
from iosonde.core.table import build_table
from iosonde.core.types import Experiment, Factor
from iosonde.data.bindings import Binding, bind_experiments, bind_table, find_bindings
from iosonde.data.factors import find_factors
from iosonde.data.source import open_data
from iosonde.store import Store

KIB, MIB = 1 << 10, 1 << 20


def asked(command: str, *factors: Factor, name: str = "e") -> Experiment:
    return Experiment(name, "asked", list(factors), {"steps": [{"command": command}]}, [], 1, "2026-01-01")


def ran(factors: dict, experiment: str = "e", complete: bool = True, **more: object) -> StoredRun:
    document = {
        "id": "r",
        "experiment": experiment,
        "source": "iosonde commands",
        "missing": [] if complete else ["it failed"],
        "facts": {},
        **more,
    }
    return StoredRun({**document, "factors": factors})


def find_settings(runs, experiments) -> dict[str, str]:
    return {name: binding.setting for name, binding in find_bindings(runs, experiments).items()}


def bound(command: str, *runs: dict, name: str = "x") -> dict[str, str]:
    return find_settings([ran(factors) for factors in runs], [asked(command, Factor(name))])


@pytest.mark.parametrize(
    ("command", "setting"),
    [
        ("ior -t ${x} -b 1m", "transfer_size"),
        ("ior -t${x}", "transfer_size"),
        ("mpirun -n 4 /opt/bin/ior -w -t '${x}'", "transfer_size"),
        ("ior -b ${x}", "block_size"),
        ("fio --name=a --bs=${x} --rw=read", "block_size"),
        ("elbencho --block ${x} f", "block_size"),
        ("ior -o ${x}", ""),  # no setting
        ("ior -t 4${x}", ""),  # only a part of the value
        ("dd bs=${x}", ""),  # a tool that prints no settings
        ("prior -t ${x}", ""),
        ("ior -t 1m; echo ${x}", ""),
        ("ior -wt=${x} -F", "transfer_size"),
        ("timeout 9 numactl -N 0 ior -t ${x} | tee log", "transfer_size"),
        ("fio --name a --bs ${x}", "block_size"),
        ("fio -bs=${x}", "block_size"),
        ("fio --bs=${x} --blocksize=${x}", "block_size"),
        ("fio --bs=${x} --size=${x}", ""),  # two settings
        ("fio --verify_pattern=${x}", ""),
        ("fio - <<EOF\n[a]\nbs=${x}\nEOF", "block_size"),
        ("printf '[a]\\nrw=read\\nbs=${x}\\n' >job; fio job", "block_size"),
        ("fio - <<EOF\n[a]\nbs=${IOSONDE_X}\nEOF", "block_size"),
        ("ior -t $IOSONDE_X", "transfer_size"),
        ("bs=${x} ./mine", ""),
        ("elbencho -b${x} f", "block_size"),
        ("elbencho -wt 4 -b${x} f", "block_size"),
        ("mdtest -n 10 -w ${x} -d d", "write_bytes"),
        ("mdtest -n 10 -e${x} -d d", "read_bytes"),
        ("iozone -r ${x} -s 1g", "record_size"),
        ("iozone -i 0 -s ${x}", "file_size"),
        ("io500 <(printf '[ior-easy]\nblockSize = ${x}\n[mdtest-easy]\nn = 5\n')", "block_size"),
        ("cat >c.ini <<EOF\n[ior-hard]\ntransferSize = ${x}\nEOF\nio500 c.ini", ""),  # a fixed size
    ],
)
def test_the_command_says_which_setting_a_placeholder_is(command, setting):
    names = ("transfer_size", "block_size", "write_bytes", "read_bytes", "record_size", "file_size", "size")
    level = {"x": "256k", **dict.fromkeys(names, 256 * KIB)}
    assert bound(command, level) == ({"x": setting} if setting else {})


@pytest.mark.parametrize(
    ("runs", "is_bound"),
    [
        ([{"x": "256k", "transfer_size": 256 * KIB}, {"x": "1m", "transfer_size": MIB}], True),
        ([{"x": "256k", "transfer_size": 256 * KIB}, {"x": "1m", "transfer_size": 2 * MIB}], False),
        ([{"x": "256k", "transfer_size": 256 * KIB}, {"x": "1m"}], False),
        ([{"x": 4096, "transfer_size": 4096}, {"transfer_size": 8192}], True),
        ([], False),
    ],
)
def test_the_output_says_whether_it_always_was(runs, is_bound):
    assert bound("ior -t ${x}", *runs) == ({"x": "transfer_size"} if is_bound else {})


def test_a_run_that_failed_before_it_printed_its_settings_does_not_matter():
    experiments = [asked("ior -t ${x}", Factor("x"))]
    failed = ran({"x": "1m"}, complete=False)
    assert find_settings([failed], experiments) == {}
    assert find_settings([failed, ran({"x": "4k", "transfer_size": 4096})], experiments) == {"x": "transfer_size"}


@pytest.mark.parametrize(
    ("command", "setting"),
    [
        ("mdtest -n ${x} -d d", "items_per_rank"),
        ("mdtest -I ${x} -d d", "items_per_directory"),
        ("mdtest -b ${x} -d d", "branching_factor"),
        ("mdtest -z ${x} -d d", "depth"),
        ("ior -s ${x}", "segments"),
        ("fio --iodepth=${x}", "io_depth"),
        ("fio --numjobs ${x}", "ranks"),
        ("fio --direct=${x}", "direct"),
        ("elbencho -t ${x} f", "threads"),
        ("elbencho --iodepth ${x} f", "io_depth"),
        ("iozone -t ${x}", "ranks"),
        ("mpirun -np ${x} --hostfile h ior -t 1m", "ranks"),
        ("srun -n${x} ior -t 1m", "ranks"),
        ("srun --nodes=${x} ior -t 1m", "nodes"),
        ("./mine -n ${x}", ""),
        ("mpirun -np ${x} ./mine", ""),  # nobody prints how many they were
    ],
)
def test_counts_are_bound_to_the_settings_that_importers_write(command, setting):
    names = ("items_per_rank", "items_per_directory", "branching_factor", "depth", "segments", "io_depth", "direct")
    level = {"x": "2", **dict.fromkeys((*names, "ranks", "threads", "nodes"), 2)}
    assert bound(command, level) == ({"x": setting} if setting else {})
    assert bound(command, level | {setting: 3}) == {}


def test_a_job_file_that_a_set_up_writes_is_read():
    experiment = asked("fio job", Factor("x"))
    experiment.settings["set_up"] = [{"command": "cat >job <<EOF\n[global]\niodepth=${x}\n[a]\nrw=read\nEOF"}]
    assert find_settings([ran({"x": 8, "io_depth": 8})], [experiment]) == {"x": "io_depth"}


def test_texts_are_levels_too():
    assert bound("fio --ioengine=${x}", {"x": "libaio", "engine": "libaio"}) == {"x": "engine"}
    assert bound("fio --ioengine=${x}", {"x": "libaio", "engine": "psync"}) == {}


def test_a_placeholder_that_is_two_settings_is_left_alone():
    experiments = [asked("ior -t ${x}", Factor("x")), asked("ior -b ${x}", Factor("x"), name="f")]
    level = {"x": "4k", "transfer_size": 4096, "block_size": 4096}
    assert find_settings([ran(level), ran(level, "f")], experiments) == {}
    assert find_settings([ran(level), ran(level, "f")], experiments[:1]) == {"x": "transfer_size"}


def test_a_setting_that_is_declared_itself_and_a_name_of_imports_are_left_alone():
    level = {"x": "4k", "transfer_size": 4096}
    assert find_settings([ran(level)], [asked("ior -t ${x}", Factor("x"), Factor("transfer_size"))]) == {}
    both = [ran(level), ran({"x": "a"}, "old", facts={"import": {}})]
    assert both[1].imported and find_settings(both, [asked("ior -t ${x}", Factor("x"))]) == {}


def test_the_table_has_the_setting_alone_and_finds_it_by_both_names():
    table = build_table({"x": ["4k", "1m", "1m"], "transfer_size": [4096, MIB, None], "v": [1, 2, 3]})
    bound = bind_table(table, {"x": Binding("transfer_size")})
    assert bound.names == ["transfer_size", "v"]
    assert bound.column("x").values.tolist() == [4096, MIB, MIB] and bound.column("x").name == "transfer_size"
    assert bound.has_column("x") and not bound.has_column("y") and bound.take([0]).has_column("x")
    assert bind_table(table, {"y": Binding("transfer_size")}).names == table.names


def test_the_factor_is_the_setting_with_its_levels():
    (made,) = bind_experiments(
        [asked("", Factor("x", "", ("4k", "1m")), Factor("n", "", (1,)))], {"x": Binding("transfer_size")}
    )
    assert [(factor.name, factor.levels) for factor in made.factors] == [("transfer_size", (4096, MIB)), ("n", (1,))]
    rows = build_table({"run": ["a", "b"], "transfer_size": [4096, MIB], "value": [1.0, 2.0]})
    runs = [
        StoredRun({**ran({"x": level, "transfer_size": size}).document, "id": name, "target": "/t"})
        for name, level, size in (("a", "4k", 4096), ("b", "1m", MIB))
    ]
    varying = find_factors(rows, runs, [asked("ior -t ${x}", Factor("x", "", ("4k", "1m")))])
    assert (varying.names, varying.confounded) == (["transfer_size"], {})


def test_a_store_is_read_under_the_settings_name_and_not_changed(tmp_path):
    store = Store.create(tmp_path / "s")
    store.save_new_experiment(asked("ior -t ${t}", Factor("t", "", ("4k", "1m"))))
    for number, (level, size) in enumerate((("4k", 4096), ("1m", MIB), ("4k", 4096))):
        run = store_samples.run(f"e-{number}", experiment="e", factors={"t": level, "transfer_size": size})
        store.append(run)
    source = open_data(store)
    assert source.varying_factors.names == ["transfer_size"]
    assert source.units()["t"] == source.units()["transfer_size"] == "bytes"
    assert [run["factors"]["t"] for run in store.runs()] == ["4k", "1m", "4k"]
    assert len(open_data(store, ["t=4k"]).runs) == len(open_data(store, ["transfer_size=4k"]).runs) == 2


@pytest.mark.parametrize(
    ("command", "levels", "setting"),
    [
        ("elbencho -w -b ${x} f", ("4k", "1m"), "block_size"),
        ("elbencho -w -t ${x} f", (1, 2), "threads"),
        ("iozone -r ${x} -s 1g", (64, 128), ""),  # KiB without a letter, which only an output shows
        ("./mine -b ${x}", ("4k", "1m"), ""),
    ],
)
def test_where_no_output_has_the_setting_the_command_alone_says_it(command, levels, setting):
    runs = [ran({"x": level}) for level in levels]
    assert find_settings(runs, [asked(command, Factor("x"))]) == ({"x": setting} if setting else {})
    assert find_settings([ran({"x": levels[0]}, complete=False)], [asked(command, Factor("x"))]) == {}


def test_a_setting_that_only_a_command_says_is_a_column_of_its_levels():
    table = build_table({"run": ["a", "b", "c"], "x": ["4k", "1m", None]})
    bound = bind_table(table, {"x": Binding("block_size")})
    assert bound.names == ["run", "block_size"]
    assert bound.column("x").values.tolist()[:2] == [4096, MIB] and bound.columns["block_size"].missing.tolist()[2]
    assert bound.level_units()["block_size"] == "bytes"  # as importers store it: 4 KiB and not 4096


@pytest.mark.parametrize("levels", [(64, 1024), ("64", "1024"), ("64k", "1m")])
def test_a_size_of_iozone_without_a_letter_is_in_kib(levels):
    experiment = asked("iozone -a -r ${r} -s 1g", Factor("r", "", levels))
    runs = [ran({"r": level, "record_size": size}) for level, size in zip(levels, (65536, MIB), strict=True)]
    bindings = find_bindings(runs, [experiment])
    assert bindings == {"r": Binding("record_size", 1024)}
    assert bind_experiments([experiment], bindings)[0].factors[0].levels == (65536, MIB)
    assert find_bindings([ran({"r": 64, "record_size": 64})], [experiment]) == {}

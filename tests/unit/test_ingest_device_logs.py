"""Logs of iostat and sar beside runs: which samples belong to which run, and what is said of them."""

from __future__ import annotations

import json
import time
from datetime import datetime, timedelta

import pytest

import iosonde
from iosonde.commands.show.text_loads import format_loads
from iosonde.core.device_loads import DISK, DeviceLoad, read_device_loads, select_disks
from iosonde.core.errors import DataError
from iosonde.core.types import Experiment, Run
from iosonde.importers.samples import DeviceSample, Samples
from iosonde.ingest import device_logs
from iosonde.store import Store
from iosonde.store.added_loads import FILE
from iosonde.store.merge import merge
from iosonde.store.redact import redact
from messages import assert_problem
from sysstat_sample import build_iostat, build_sar, every

BEGIN = "2023-05-03T10:01:00"
IOR = """IOR-4.0.0: MPI Coordinated Test of Parallel I/O
Began               : {began}
Command line        : ior -w
Machine             : Linux n1
TestID              : 0
StartTime           : {began}
Path                : /t
Options:
api                 : POSIX
tasks               : 2
repetitions         : 1

Results:

access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter
------    ---------  ----       ----------  ---------- ---------  --------   --------   --------   --------   ----
write     500.00     500.00     0.000362    16384      1024.00    0.000019   60.000     0.0517     60.0       0
Finished            : {finished}
"""


def format_date(text: str) -> str:
    return datetime.fromisoformat(text).strftime("%a %b %d %H:%M:%S %Y")


def ior(began: str = BEGIN, finished: str = "2023-05-03T10:02:00") -> str:
    return IOR.format(began=format_date(began), finished=format_date(finished))


def load(moment: datetime) -> dict[str, tuple[float, float]]:
    """Busy in the run (10:01 to 10:02), 40 % before and long after it; writing for 10 s after it."""
    second = (moment - datetime(2023, 5, 3, 10)).total_seconds()
    busy = 99.0 if 60 < second <= 120 else 0.0 if 120 < second <= 155 else 40.0
    written = 100_000.0 if 60 < second <= 130 else 1000.0
    return {"sda": (1.0, 10.0), "sdb": (busy, written), "sdb1": (busy, written), "dm-0": (busy, written)}


@pytest.fixture
def log():
    return build_iostat(every("2023-05-03T10:00:00", 60, 5), load)


def import_texts(path, store="s", /, **texts):
    """Import files NAME_EXTENSION of these texts."""
    files = []
    for name, text in texts.items():
        file = path / name.replace("_", ".")
        file.write_text(text)
        files.append(str(file))
    return iosonde.import_files(files, store=str(path / store))


def get_loads(store) -> dict[str, DeviceLoad]:
    (document,) = Store.open(store).runs()
    return {load.device: load for load in read_device_loads(document["facts"])}


def add_run(store, started_at: str, seconds: float = 60.0) -> None:
    opened = Store.create(store)
    opened.save_new_experiment(Experiment("e", "e", [], {}, [], 0, "2023-05-03T00:00:00Z"))
    opened.append(Run("r", "e", "x", started_at, seconds, {}, []))


@pytest.mark.parametrize("is_earlier", [True, False])
def test_a_run_gets_the_samples_of_its_time_in_the_same_import_or_a_later_one(tmp_path, log, is_earlier):
    if is_earlier:
        import_texts(tmp_path, ior_txt=ior())
        answer = import_texts(tmp_path, iostat_log=log)
    else:
        answer = import_texts(tmp_path, ior_txt=ior(), iostat_log=log)
    (entry,) = answer.to_dict()["device_loads"]
    assert (entry["host"], entry["changed"], len(entry["runs"]), entry["devices"]) == (
        "oss1",
        1,
        1,
        {"cpu": 1, "disk": 4},
    )
    disk = get_loads(tmp_path / "s")["sdb"]
    assert disk.seconds == {"before": 55.0, "during": 60.0, "flush": 35.0, "after": 85.0}
    assert disk.during["utilisation"] == pytest.approx(0.99)
    assert disk.during["write_bandwidth"] == pytest.approx(100_000 * 1024)
    assert disk.before["utilisation"] == pytest.approx(0.4)
    assert disk.count_bytes_written("flush") == pytest.approx((10 * 100_000 + 25 * 1000) * 1024)
    assert (disk.host, disk.file) == ("oss1", "iostat.log")
    again = import_texts(tmp_path, iostat_log=log).to_dict()["device_loads"]
    assert again[0]["changed"] == 0


def test_results_have_the_sums_over_whole_disks_only_on_request(tmp_path, log):
    import_texts(tmp_path, ior_txt=ior(), iostat_log=log)
    store = str(tmp_path / "s")
    assert {group["metric"] for group in iosonde.summary(store).to_dict()["groups"]} == {"bandwidth_last_done"}
    answer = iosonde.summary(store, metric=["disk_utilisation_busiest", "disk_write_bandwidth"]).to_dict()
    means = {group["metric"]: group["mean"] for group in answer["groups"]}
    assert means["disk_utilisation_busiest"] == pytest.approx(0.99)
    assert means["disk_write_bandwidth"] == pytest.approx(100_010 * 1024), "neither the partition nor dm-0"


def test_findings_about_disks(tmp_path, log):
    import_texts(tmp_path, ior_txt=ior(), iostat_log=log)
    answer = iosonde.check(str(tmp_path / "s")).to_dict()
    findings = {finding["code"]: finding for finding in answer["findings"]}
    assert findings["S139"]["evidence"]["n_disks"] == 2
    assert set(findings["S139"]["evidence"]["disks"]) == {"sdb of oss1"}
    assert findings["S140"]["evidence"]["share"] == pytest.approx(0.4)
    assert findings["S140"]["evidence"]["disks"] == ["sdb of oss1"]
    a_second = 100_010 * 1024
    late = (10 * 100_000 + 25 * 1000 - 35 * 1000) * 1024 - a_second
    assert findings["S141"]["evidence"]["bytes"] == pytest.approx(late)
    assert findings["S141"]["evidence"]["share"] == pytest.approx(late / (late + 60 * 100_010 * 1024))
    (run,) = Store.open(tmp_path / "s").runs()
    rows = [line.split() for line in format_loads(run["facts"])]
    assert ["sdb", "of", "oss1", "99", "%", "17.5", "ms"] in [row[:7] for row in rows]


def test_quiet_disks_give_no_finding(tmp_path):
    log = build_iostat(every("2023-05-03T10:00:00", 60, 5), lambda moment: {"sda": (1.0, 10.0)})
    import_texts(tmp_path, ior_txt=ior(), iostat_log=log)
    codes = {finding["code"] for finding in iosonde.check(str(tmp_path / "s")).to_dict()["findings"]}
    assert not codes & {"S139", "S140", "S141"}


def find_other_load(path, busy_before: float, busy_after: float, end: int = 60) -> str:
    """Return the severity of S140 for disks busy before and after the run, '' without it."""
    half = datetime.fromisoformat(BEGIN) + timedelta(seconds=30)
    text = build_iostat(
        every("2023-05-03T10:00:00", end, 5), lambda time: {"sdb": (busy_before if time < half else busy_after, 10.0)}
    )
    import_texts(path, ior_txt=ior(), iostat_log=text)
    findings = iosonde.check(str(path / "s")).to_dict()["findings"]
    return next((finding["severity"] for finding in findings if finding["code"] == "S140"), "")


@pytest.mark.parametrize(
    ("before", "after", "end", "severity"),
    [(40.0, 40.0, 60, "warning"), (40.0, 0.0, 60, ""), (0.0, 40.0, 60, ""), (40.0, 40.0, 26, "info")],
)
def test_load_on_one_side_of_a_run_may_be_its_own_preparation_or_removal(tmp_path, before, after, end, severity):
    assert find_other_load(tmp_path, before, after, end) == severity


def test_a_merge_and_a_redacted_copy_have_the_loads_and_damage_is_found(tmp_path, log):
    import_texts(tmp_path, ior_txt=ior(), iostat_log=log)
    source = Store.open(tmp_path / "s")
    merge(Store.create(tmp_path / "merged"), [source])
    assert get_loads(tmp_path / "merged") == get_loads(tmp_path / "s")
    redact(source, tmp_path / "redacted")
    loads = get_loads(tmp_path / "redacted")
    assert loads["sdb"].during == get_loads(tmp_path / "s")["sdb"].during
    assert source.problems() == []
    path = tmp_path / "s" / FILE
    path.write_text(path.read_text().replace("sdb", "sdc"))
    assert [(problem.code, problem.evidence["path"]) for problem in source.problems()] == [("D105", FILE)]
    assert not Store.open(tmp_path / "s").runs()[0]["facts"].get("device_loads")
    with pytest.raises(DataError):
        import_texts(tmp_path, iostat_log=log)


@pytest.mark.parametrize("has_start", [True, False])
def test_fio_prints_its_end(tmp_path, has_start):
    """Of UTC, as the log is here: 10:01 to 10:02."""
    end_ms = 1000 * datetime.fromisoformat("2023-05-03T10:02:00+00:00").timestamp()
    write = {"io_bytes": 1 << 20, "bw_bytes": 1 << 20, "iops": 256.0, "runtime": 60_000, "total_ios": 256}
    job = {"jobname": "a", "groupid": 0, "error": 0, "job options": {"rw": "write"}, "write": write}
    jobs = [job | {"job_start": end_ms - 60_000}, job | {"groupid": 1, "job_start": end_ms - 30_000}]
    document = {"fio version": "fio-3.38", "timestamp_ms": end_ms, "jobs": jobs if has_start else [job]}
    utc_log = build_iostat(every("2023-05-03T10:00:00", 60, 5), load, form="%Y-%m-%dT%H:%M:%S+0000")
    import_texts(tmp_path, fio_json=json.dumps(document), iostat_log=utc_log)
    for run in Store.open(tmp_path / "s").runs():
        disk = next(load for load in read_device_loads(run["facts"]) if load.device == "sdb")
        assert disk.seconds["during"] == 60.0 and disk.during["utilisation"] == pytest.approx(0.99)


# What is refused


def refuse(path, /, **texts):
    with pytest.raises(DataError) as error:
        import_texts(path, **texts)
    assert not (path / "s" / FILE).exists()
    return error.value.message.values["reason"]


def test_without_times_or_runs_a_log_is_refused(tmp_path, log):
    assert_problem(refuse(tmp_path, iostat_log=log), "no-run-with-times")
    import_texts(tmp_path, ior_txt=ior().replace("Finished", "Fin"))
    assert_problem(refuse(tmp_path, iostat_log=log), "no-run-with-times")
    untimed = build_iostat(every("2023-05-03T10:00:00", 60, 5), load, timed=False)
    assert_problem(refuse(tmp_path, iostat_log=untimed), "samples-without-time")


def test_of_another_time_the_refusal_names_the_nearest_run_and_a_zone_that_would_do(tmp_path, log):
    import_texts(tmp_path, ior_txt=ior("2023-05-03T12:01:00", "2023-05-03T12:02:00"))
    reason = refuse(tmp_path, iostat_log=log)
    assert_problem(reason, "no-run-of-its-time", start="2023-05-03T12:01:00", begin="2023-05-03T10:00:00")
    assert "+2 h" in reason
    later = build_iostat(every("2023-05-09T10:07:00", 10, 5), load)
    assert "TZ" not in refuse(tmp_path, iostat_log=later)


def test_a_run_shorter_than_the_interval_has_no_sample(tmp_path):
    import_texts(tmp_path, ior_txt=ior())
    reason = refuse(tmp_path, sar_txt=build_sar(every("2023-05-03T09:50:00", 4, 600), load))
    assert_problem(reason, "interval-too-long", interval="10 min 00 s")


def test_runs_shorter_than_the_interval_are_counted_beside_others(tmp_path, log):
    short = ior("2023-05-03T10:02:41", "2023-05-03T10:02:44")
    (entry,) = import_texts(tmp_path, ior_txt=ior(), short_txt=short, iostat_log=log).to_dict()["device_loads"]
    assert (len(entry["runs"]), entry["too_short"]) == (1, 1)


def test_beside_a_result_a_refused_log_is_named_and_the_result_is_stored(tmp_path):
    untimed = build_iostat(every("2023-05-03T10:00:00", 60, 5), load, timed=False)
    with pytest.warns(iosonde.IosondeWarning):
        answer = import_texts(tmp_path, ior_txt=ior(), iostat_log=untimed)
    assert [entry["file"].rpartition("/")[2] for entry in answer.to_dict()["unknown"]] == ["iostat.log"]
    assert len(Store.open(tmp_path / "s").runs()) == 1


# Clocks


@pytest.fixture
def berlin(monkeypatch):
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("started_at", "is_utc", "zone"),
    [
        ("2023-05-03T10:01:00", False, "same"),
        ("2023-05-03T10:01:00Z", True, ""),
        ("2023-05-03T08:01:00Z", False, "UTC+0200"),
        ("2023-05-03T12:01:00", True, "UTC+0200"),
    ],
)
def test_a_time_without_a_zone_is_that_of_this_machine_if_the_other_has_one(tmp_path, berlin, started_at, is_utc, zone):
    add_run(tmp_path / "s", started_at)
    ten = datetime.fromisoformat("2023-05-03T10:00:00+00:00").timestamp()
    entries = [DeviceSample(ten + 5 * n, 5.0, DISK, "sda", {"utilisation": 0.5}) for n in range(1, 60)]
    store = Store.open(tmp_path / "s")
    (joined,) = device_logs.join_logs(store, [("x.log", Samples("h", is_utc, "", entries))])
    assert joined.runs == ("r",)
    assert get_loads(tmp_path / "s")["sda"].seconds["during"] == 60.0
    assert (zone in joined.zone) if zone != "same" else getattr(joined.zone, "code", "") == "assumed-zone"
    assert bool(joined.zone) is bool(zone)


def test_the_time_between_two_runs_is_after_the_first_and_before_the_second(tmp_path):
    runs = {f"ior{n}_txt": ior(f"2023-05-03T10:0{n}:00", f"2023-05-03T10:0{n}:30") for n in (1, 2)}
    log = build_iostat(every("2023-05-03T10:00:00", 60, 5), lambda moment: {"sda": (50.0, 10.0)})
    import_texts(tmp_path, iostat_log=log, **runs)
    first, second = (read_device_loads(document["facts"]) for document in Store.open(tmp_path / "s").runs())
    seconds = [next(load for load in loads if load.device == "sda").seconds for loads in (first, second)]
    assert seconds[0] == {"before": 55.0, "during": 30.0, "flush": 30.0}
    assert seconds[1]["during"] == 30.0 and "before" not in seconds[1], "the first half minute may be of the first run"


@pytest.mark.parametrize(
    ("devices", "selected"),
    [
        (["sda", "sda1", "sda10", "dm-0", "md127", "loop3", "sr0"], ["sda"]),
        (["nvme0n1", "nvme0n1p1", "nvme1n1"], ["nvme0n1", "nvme1n1"]),
        (["dm-0", "dm-1"], ["dm-0", "dm-1"]),
        (["sda1", "sda2"], ["sda1", "sda2"]),
    ],
)
def test_partitions_and_devices_made_of_others_are_no_disks(devices, selected):
    assert [load.device for load in select_disks(DeviceLoad("h", DISK, device) for device in devices)] == selected

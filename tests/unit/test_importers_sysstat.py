"""iostat and sar: written after sysstat's sources; figures of our own, values by hand."""

from __future__ import annotations

import pytest

from iosonde.importers import Text, Understood, understand
from iosonde.importers.parsed import Parsed
from iosonde.importers.sysstat import parse_moment
from messages import has_message
from sysstat_sample import CPUS, HEAD, build_iostat, build_iostat_json, build_sar, every

KIB = 1024
LOADS = {"sda": (1.0, 8.0), "sdb": (99.8, 500.0)}
TIMES = every("2023-05-03T10:00:00", 4, 5)


def read(text: str) -> Understood:
    return understand(Text(text.encode(), "x"))


def get_values(run: Parsed) -> dict[tuple[str, str, str], float]:
    return {(row.operation, str((row.factors or {}).get("device")), row.metric): row.value for row in run.rows}


def list_codes(run: Parsed) -> set[str]:
    return {note.sentence.code for note in (*run.missing, *run.warnings)}


@pytest.mark.parametrize("build", [build_iostat, build_iostat_json])
def test_iostat_gives_means_of_each_device_without_the_report_since_the_boot(build):
    text = build(TIMES, lambda time: LOADS if time != TIMES[0] else {"sda": (50.0, 9999.0), "sdb": (50.0, 9999.0)})
    reading = read(text)
    (run,) = reading.runs
    values = get_values(run)
    assert (reading.format, reading.others, run.missing, list_codes(run)) == ("iostat", {}, [], set())
    assert values["disk", "sdb", "utilisation"] == pytest.approx(0.998)
    assert values["disk", "sdb", "write_bandwidth"] == pytest.approx(500 * KIB)
    assert values["disk", "sda", "read_latency"] == pytest.approx(0.01)
    assert values["disk", "sda", "latency"] == pytest.approx((100 * 0.01 + 300 * 0.02) / 400)
    assert values["disk", "sda", "queue"] == pytest.approx(7.5)
    assert values["cpu", "all", "busy"] == pytest.approx(1 - 0.865 - 0.1)
    assert (run.started_at, run.seconds, run.facts["host"]) == ("2023-05-03T10:00:00", 15, "oss1")
    samples = run.samples
    assert samples and not samples.is_utc and len(samples.entries) == 3 * 3
    assert {sample.seconds for sample in samples.entries} == {5.0}


def test_iostat_without_times_has_means_and_says_that_no_run_can_have_them():
    (run,) = read(build_iostat(TIMES, lambda time: LOADS, timed=False)).runs
    assert get_values(run)["disk", "sdb", "utilisation"] == pytest.approx(0.998)
    assert run.samples and run.samples.untimed
    assert list_codes(run) == {"samples-without-time"} and not run.started_at


def test_one_report_of_iostat_is_about_the_time_since_the_boot():
    (run,) = read(build_iostat(TIMES[:1], lambda time: LOADS)).runs
    assert not run.rows and has_message((note.sentence for note in run.missing), "no-interval")


def test_a_cut_row_and_a_cut_json_lose_the_last_report_only():
    text = build_iostat(TIMES, lambda time: LOADS)
    (run,) = read(text[: text.rindex("7.50")]).runs
    assert get_values(run)["disk", "sda", "utilisation"] == pytest.approx(0.01)
    assert has_message((note.sentence for note in run.missing), "damaged-lines")
    text = build_iostat_json(TIMES, lambda time: LOADS)
    (run,) = read(text[: text.rindex('"aqu-sz"')]).runs
    assert run.samples and len(run.samples.entries) == 2 * 3
    assert list_codes(run) == {"ended-early"}


def test_old_columns_and_sectors_are_read():
    head = "Device:         rrqm/s   wrqm/s     r/s     w/s   rsec/s   wsec/s avgrq-sz avgqu-sz   await  svctm  %util\n"
    row = (
        "sda               0.00     0.00    1.00    3.00    16.00    32.00     8.00     0.50    5.00   1.00  40.00\n\n"
    )
    text = HEAD.format(date="05/03/23") + (CPUS + head + row + "\n") * 2
    values = get_values(read(text).runs[0])
    assert values["disk", "sda", "write_bandwidth"] == 32 * 512
    assert values["disk", "sda", "latency"] == pytest.approx(0.005)
    assert values["disk", "sda", "queue"] == 0.5


def test_sar_counts_its_days_and_leaves_averages_and_other_tables_out():
    times = every("2023-05-03T23:50:00", 4, 600)
    text = build_sar(times, lambda time: LOADS)
    text += "\n23:50:00         tps      rtps      wtps\n00:00:00        1.00      1.00      1.00\n"
    (run,) = read(text).runs
    assert (run.started_at, run.seconds) == ("2023-05-03T23:50:00", 1800)
    assert run.samples and len(run.samples.entries) == 3 * 2
    values = get_values(run)
    assert values["disk", "sdb", "write_bandwidth"] == pytest.approx(500 * KIB)
    assert values["disk", "sdb", "latency"] == pytest.approx(0.0175)


def test_sar_with_am_and_pm_and_without_its_first_line():
    times = every("2023-05-03T11:59:00", 3, 60)
    text = build_sar(times, lambda time: LOADS, form="%I:%M:%S %p", day="05/03/2023")
    (run,) = read(text).runs
    assert (run.started_at, run.seconds) == ("2023-05-03T11:59:00", 120)
    (run,) = read(text.split("\n\n", 1)[1]).runs
    assert run.samples and run.samples.untimed and list_codes(run) == {"samples-without-time"}


def test_sadf_prints_utc_for_each_host():
    head = "# hostname;interval;timestamp;DEV;tps;rkB/s;wkB/s;dkB/s;areq-sz;aqu-sz;await;%util\n"
    rows = [
        f"{host};600;2023-05-03 08:{minute}:01 UTC;sda;1.00;2.00;3.00;0.00;4.00;0.10;20.00;{busy}\n"
        for host, busy in (("oss1", 10.0), ("oss2", 30.0))
        for minute in (10, 20)
    ]
    reading = read("oss1;-1;2023-05-03 08:00:00 UTC;LINUX-RESTART\t(8 CPU)\n" + head + "".join(rows))
    assert [run.facts["host"] for run in reading.runs] == ["oss1", "oss2"]
    assert [get_values(run)["disk", "sda", "utilisation"] for run in reading.runs] == pytest.approx([0.1, 0.3])
    assert reading.runs[0].started_at == "2023-05-03T08:00:01Z"
    epoch = read(head + "oss1;10;1683100810;sda;1.00;2.00;3.00;0.00;4.00;0.10;20.00;5.0\n")
    assert epoch.runs[0].started_at == "2023-05-03T08:00:00Z"


@pytest.mark.parametrize(("zone", "is_utc"), [('"utc": 1', True), ('"tz": "UTC"', True), ('"tz": "CEST"', False)])
def test_sadf_json_has_disks_cpus_and_interfaces(zone, is_utc):
    text = f"""{{"sysstat": {{
	"sysdata-version": 2.15,
	"hosts": [
		{{
			"nodename": "oss1",
			"statistics": [
				{{
					"timestamp": {{"date": "2023-05-03", "time": "08:10:00", {zone}, "interval": 600}},
					"cpu-load": [
						{{"cpu": "all", "user": 1.0, "iowait": 4.0, "steal": 0.0, "idle": 90.0}},
						{{"cpu": "0", "user": 1.0, "iowait": 4.0, "steal": 0.0, "idle": 10.0}}
					],
					"disk": [
						{{"disk-device": "sda", "tps": 1.0, "wkB": 3.0, "aqu-sz": 0.1, "await": 20, "util": 5}}
					],
					"network": {{
						"net-dev": [{{"iface": "eth0", "rxkB": 100.0, "txkB": 200.0, "ifutil-percent": 50.0}}]
					}}
				}}
			]
		}}
	]
}}}}"""
    (run,) = read(text).runs
    values = get_values(run)
    assert run.samples and run.samples.is_utc is is_utc
    assert run.started_at == "2023-05-03T08:00:00" + "Z" * is_utc
    assert values["cpu", "all", "busy"] == pytest.approx(0.06) and ("cpu", "0", "busy") not in values
    assert values["disk", "sda", "utilisation"] == pytest.approx(0.05)
    assert values["network", "eth0", "send_bandwidth"] == 200 * KIB
    assert values["network", "eth0", "utilisation"] == 0.5


@pytest.mark.parametrize(
    ("text", "day", "is_utc"),
    [
        ("05/03/23 10:00:00", "2023-05-03", False),
        ("05/03/2023 10:00:00 AM", "2023-05-03", False),
        ("03/05/2023 10:00:00", "2023-05-03", False),
        ("31/05/23 10:00:00", "2023-05-31", False),
        ("03.05.2023 10:00:00", "2023-05-03", False),
        ("2023-05-03T12:00:00+0200", "2023-05-03", True),
        ("2023-05-03 10:00:00 UTC", "2023-05-03", True),
        ("2023-05-03 10:00:00 CEST", "2023-05-03", False),
    ],
)
def test_dates_of_locales_and_zones(text, day, is_utc):
    moment = parse_moment(text)
    midnight = parse_moment(f"{day} 00:00:00 UTC")
    assert moment and midnight
    assert (moment.seconds - midnight.seconds, moment.is_utc) == (36000, is_utc)


@pytest.mark.parametrize("text", ["", "13/13/23 10:00:00", "05/03/23", "10:00:00", "sda 1.0 2.0"])
def test_what_is_no_time(text):
    assert parse_moment(text) is None

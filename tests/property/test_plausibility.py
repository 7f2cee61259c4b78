"""Consistent results of fio contradict nothing; with one law broken, it is that law."""

from __future__ import annotations

import json
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from iosonde.core.contradiction import group_doubtful_metrics
from iosonde.importers import Text, understand
from iosonde.importers.parsed import Parsed

_LEVELS = ("1.000000", "50.000000", "95.000000", "99.000000", "99.900000")
_ADDED_NS = 700.0  # submission


@dataclass
class Drawn:
    """A document of fio that obeys every law: constant work of each of ``jobs``, ``depth`` operations in flight."""

    jobs: int
    depth: int
    mean_ns: float
    runtime_ms: int
    size: int

    def build_side(self) -> dict:
        """Build the section ``read``."""
        seconds = self.runtime_ms / 1000
        n_operations = max(1, int(self.jobs * self.depth * seconds / ((self.mean_ns + _ADDED_NS) / 1e9)))
        longest = min(self.mean_ns * 7.3, self.runtime_ms * 0.9e6)
        shares = (0.31, 0.8, 0.9, 0.95, 0.99)
        percentiles = {
            level: self.mean_ns * 0.3 + share * (longest - self.mean_ns * 0.3)
            for level, share in zip(_LEVELS, shares, strict=True)
        }
        latency = {"min": self.mean_ns * 0.29, "max": longest, "mean": self.mean_ns, "stddev": self.mean_ns * 0.4}
        total = {name: value + _ADDED_NS for name, value in latency.items()}
        return {
            "io_bytes": n_operations * self.size,
            "io_kbytes": n_operations * self.size // 1024,
            "bw_bytes": int(n_operations * self.size / seconds),
            "iops": n_operations / seconds,
            "runtime": self.runtime_ms,
            "total_ios": n_operations,
            "clat_ns": {**latency, "N": n_operations, "percentile": percentiles},
            "lat_ns": {**total, "N": n_operations},
        }

    def read(self, side: dict) -> Parsed:
        """Return what is read of a document with this section."""
        options = {"rw": "randread", "bs": str(self.size), "iodepth": str(self.depth), "numjobs": str(self.jobs)}
        options["ioengine"] = "libaio"
        job = {
            "jobname": "j",
            "groupid": 0,
            "error": 0,
            "job options": {**options, "direct": "1"},
            "read": side,
            "job_runtime": self.jobs * self.runtime_ms,
        }
        document = {"fio version": "fio-3.36", "time": "x", "jobs": [job]}
        [run] = understand(Text(json.dumps(document, indent=1).encode(), "out.json")).runs
        return run


drawn = st.builds(
    Drawn,
    jobs=st.integers(1, 64),
    depth=st.integers(1, 256),
    mean_ns=st.floats(900.0, 9e7),
    runtime_ms=st.integers(1100, 600_000),
    size=st.sampled_from([512, 4096, 65536, 2**20]),
)


def list_codes(run: Parsed) -> set[str]:
    return {entry.code for entry in run.contradictions}


@given(drawn)
def test_consistent_numbers_contradict_nothing(results):
    assert not results.read(results.build_side()).contradictions


@given(drawn, st.sampled_from(["mean", "max"]), st.floats(1.2, 1e4))
def test_a_latency_beyond_the_run_is_doubtful(results, statistic, times):
    side = results.build_side()
    side["clat_ns"][statistic] = results.runtime_ms * 1e6 * times
    run = results.read(side)
    assert "S134" in list_codes(run)
    doubtful = group_doubtful_metrics(run.contradictions)["read"]
    assert f"completion_latency_{statistic}" in doubtful
    assert not {"rate_last_done", "bandwidth_last_done"} & doubtful


@given(drawn, st.sampled_from(_LEVELS), st.floats(1.1, 1e3))
def test_a_percentile_beyond_the_maximum_is_doubtful(results, level, times):
    side = results.build_side()
    side["clat_ns"]["percentile"][level] = side["clat_ns"]["max"] * times + 3e6
    run = results.read(side)
    assert list_codes(run) == {"S134"}
    assert f"completion_latency_p{float(level):g}" in group_doubtful_metrics(run.contradictions)["read"]


@given(drawn, st.floats(1.1, 1e3))
def test_a_part_of_a_latency_is_not_longer_than_it(results, times):
    side = results.build_side()
    side["lat_ns"]["mean"] = side["clat_ns"]["mean"] / times
    side["lat_ns"]["min"] = side["lat_ns"]["mean"] / 2
    run = results.read(side)
    assert list_codes(run) == {"S134"} or side["clat_ns"]["mean"] - side["lat_ns"]["mean"] <= 2000


@given(drawn, st.floats(1.8, 1e5))
def test_more_in_flight_than_jobs_and_depth_allow_is_doubtful(results, times):
    side = results.build_side()
    side["iops"] *= times
    side["bw_bytes"] = int(side["bw_bytes"] * times)
    run = results.read(side)
    assert "S136" in list_codes(run) or side["lat_ns"]["mean"] % 1000 == 0


@given(drawn, st.sampled_from([1000, 1024]))
def test_latencies_in_a_shorter_unit_are_doubtful(results, factor):
    side = results.build_side()
    for latency in (side["clat_ns"], side["lat_ns"]):
        latency |= {name: value / factor for name, value in latency.items() if name in ("min", "max", "mean", "stddev")}
    side["clat_ns"]["percentile"] = {level: v / factor for level, v in side["clat_ns"]["percentile"].items()}
    run = results.read(side)
    is_long = side["total_ios"] >= 10 * results.jobs * results.depth
    assert list_codes(run) == ({"S136"} if is_long or side["lat_ns"]["mean"] < 50 else set())
    assert not {"rate_last_done", "bandwidth_last_done"} & group_doubtful_metrics(run.contradictions).get("read", set())


@given(drawn, st.sampled_from([1000, 1024, 1000**2, 1024**2]))
def test_a_bandwidth_in_another_unit_is_doubtful(results, factor):
    side = results.build_side()
    side["bw_bytes"] = int(side["bw_bytes"] * factor)
    run = results.read(side)
    if side["bw_bytes"] < 2**60:  # beyond, the row is left out
        assert list_codes(run) == {"S135"}
        assert group_doubtful_metrics(run.contradictions) == {"read": {"bandwidth_last_done"}}

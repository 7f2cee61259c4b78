"""The bound on the page: the same shares as `iosonde bound`, rooflines, losses, and what cannot be said."""

import json
import re
from collections import Counter

import bound_sample
import pytest
from click.testing import CliRunner

from iosonde.commands.bound.for_page import parse_system_option
from iosonde.core.errors import InputError
from iosonde.core.types import Run
from iosonde.model.bound.shares import ABOVE, MARKS
from iosonde.store import Store
from terminal import command_of

bound = command_of("bound")
report = command_of("report")

OPTIONS = ["--servers", "2", "--net", "1GB/s", "--disks", "4", "--disk", "300MB/s"]
ASKED = "servers=2,net=1GB/s,disks=4,disk=300MB/s"


def run(command, *words):
    return CliRunner().invoke(command, [str(word) for word in words])


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("bound") / "results"
    bound_sample.store(path)
    return path


@pytest.fixture(scope="module")
def page(store):
    return json.loads(run(report, store, "--json", "--bound", ASKED).stdout)


def test_shares_and_losses_are_those_of_the_command(store, page):
    said = json.loads(run(bound, store, *OPTIONS, "--waterfall", "--json").stdout)
    (made,) = page["bound"]["items"]
    (row,), (share,) = said["rows"], made["shares"]
    assert (share["bound"], share["share"]["value"]) == (row["s"], row["share"])
    assert (share["share"]["low"], share["share"]["high"]) == (row["share_low"], row["share_high"])
    (fall,), (losses,) = said["waterfalls"], made["losses"]
    assert [one["value"] for _, one in losses["parts"]] == [part["seconds"] for part in fall["parts"]]
    assert sum(one["value"] for _, one in losses["parts"]) == pytest.approx(losses["delivered"]["value"])
    pairs = list(zip(made["assumptions"], said["assumptions"], strict=True))
    assert all(mine == other or other.startswith(f"{mine} (") for mine, other in pairs)  # a page names no options


def test_operations_and_results_are_read_once_a_page(store, tmp_path, monkeypatch):
    """By percentiles, distributions and losses together."""
    read = Counter()

    def counting(name):
        real = getattr(Store, name)

        def counted(self, *words, **more):
            read[name, *words] += 1
            return real(self, *words, **more)

        return counted

    for name in ("operations", "operation_batches", "results"):
        monkeypatch.setattr(Store, name, counting(name))
    assert run(report, store, "-o", tmp_path / "page.html", "--bound", ASKED).exit_code == 0
    assert read == {**{("operations", f"w-{number}"): 1 for number in range(6)}, ("results",): 1}


def test_the_roofline_is_the_minimum_of_its_ceilings_and_holds_the_measurement(page):
    (line,) = page["bound"]["items"][0]["rooflines"]
    assert set(line["ceilings"]) == {"network_clients", "network_servers", "disks"}
    for place, s in enumerate(line["s"]):
        assert s == min(values[place] for values in line["ceilings"].values())
    (point,) = line["points"]
    assert line["xs"][0] <= point["x"] <= line["xs"][-1] and not point["above"]


def test_the_page_has_the_section_the_figures_and_the_sentence(store, tmp_path):
    out = run(report, store, "-o", tmp_path / "page.html", "--bound", ASKED)
    assert out.exit_code == 0, out.output
    html = (tmp_path / "page.html").read_text()
    for text in ('id="bound"', 'data-figure="bound-1"', "--bound servers=2,net=1GB/s"):
        assert text in html
    (item,) = items(store, "--bound", ASKED)["items"]
    assert html.count(item["sentence"]) == 2  # the first screen, and its section


def test_without_a_bound_there_is_no_such_section(store, tmp_path):
    assert run(report, store, "-o", tmp_path / "page.html").exit_code == 0
    assert 'id="bound"' not in (tmp_path / "page.html").read_text()


def test_above_the_bound_is_flagged(store, tmp_path):
    run(report, store, "-o", tmp_path / "page.html", "--bound", "net=100MB/s")
    html = (tmp_path / "page.html").read_text()
    assert f'">{MARKS[ABOVE]}<' in html and "cache" in html
    run(report, store, "-o", tmp_path / "page.html", "--bound", "net=10GB/s")
    assert '">!' not in (tmp_path / "page.html").read_text()


def estimate(value, low=None, high=None):
    return {"value": value, "low": low, "high": high, "level": 0.95, "n": 3, "warnings": []}


def probe(medium="network", low=5e8):
    pair = {
        "ranks": [0, 1],
        "hosts": ["a", "b"],
        "medium": medium,
        "bandwidth": estimate(6e8, low, 7e8),
        "bandwidth_back": estimate(6.5e8),
    }
    node = {"host": "a", "cores": 2, "cpu_write": estimate(4e-9), "cpu_read": estimate(1e-9)}
    return {"pairs": [pair], "nodes": [node], "warnings": []}


def with_probe(path, facts):
    made = Store.create(path)
    for repetition in range(3):
        one = bound_sample._run(repetition)
        made.append(Run(**{**one.__dict__, "facts": {"probe": facts}}))
    return path


def items(path, *words):
    out = run(report, path, "--json", *words)
    assert out.exit_code == 0, out.output
    return json.loads(out.stdout)["bound"]


def test_a_store_that_knows_a_probe_has_a_bound_by_itself(tmp_path):
    (made,) = items(with_probe(tmp_path / "s", probe()))["items"]
    assert set(made["rooflines"][0]["ceilings"]) == {"network_clients", "cpu"}
    # A probe sees no servers: that one of them limits is not claimed.
    assert any("servers' network" in note for note in made["notes"])
    assert made["shares"][0]["bound"] == min(2 * 6e8, 2 / (4e-9 / 2))
    (more,) = items(tmp_path / "s", "--bound", "servers=4")["items"]
    assert "network_servers" in more["rooflines"][0]["ceilings"]


def test_a_probe_that_bounds_nothing_is_said(tmp_path):
    found = items(with_probe(tmp_path / "s", {"pairs": [], "nodes": [], "warnings": []}))
    assert not found["items"] and len(found["missing"]) == 1


def test_an_interval_of_a_probe_that_reaches_zero_is_no_error(tmp_path):
    (made,) = items(with_probe(tmp_path / "s", probe(low=0.0)))["items"]
    assert any("reaches 0" in note for note in made["notes"])


def test_a_table_takes_columns_and_units(tmp_path):
    rows = "".join(f"{n},{n * 90 + r}\n" for n in (1, 2, 4) for r in range(3))
    (tmp_path / "t.csv").write_text("nodes,speed_MB/s\n" + rows)
    (made,) = items(tmp_path / "t.csv", "--bound", "clients=nodes,servers=8,client-net=100MB/s")["items"]
    assert [share["bound"] for share in made["shares"]] == [1e8, 2e8, 4e8]
    assert dict(made["inputs"])["clients"].split()[-1] == "nodes"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("net", "does not exist|No such file|cannot read"),
        ("net=1GB/s,serverz=2", "did you mean servers"),
        ("net=1GB/s,net=2GB/s", "duplicate name net"),
        ("net=", "is not NAME=VALUE"),
        ("net=1GB/s,,", "is not NAME=VALUE"),
        ("net=fast", "--net"),
        ("servers=2,disks=1,net=1GB/s", "every server needs one"),
        ("servers=4", "no known property"),
        ("erasure=x,net=1GB/s", "is not an erasure code"),
        ("net=1GB/s,redundancy=raid", "unknown"),
        ("net=1GB/s,operation=append", "unknown"),
    ],
)
def test_a_wrong_bound_is_one_sentence(store, tmp_path, text, says):
    import re

    from iosonde.core.errors import IosondeError

    out = run(report, store, "-o", tmp_path / "page.html", "--bound", text)
    assert isinstance(out.exception, IosondeError), out.output
    assert re.search(says, f"{out.exception.message} {out.exception.hint}")
    assert not (tmp_path / "page.html").exists()


def test_a_text_without_a_sign_is_a_probe():
    assert parse_system_option("probe.json").others == {"probe": "probe.json"}
    with pytest.raises(InputError):
        parse_system_option("net=1GB/s,x")


@pytest.mark.long
def test_settings_of_one_hardware_share_a_roofline_and_others_do_not(tmp_path):
    rows = "".join(f"{fs},{n},{n * 50 + r}\n" for fs in "ab" for n in (1, 2, 4) for r in range(3))
    (tmp_path / "t.csv").write_text("fs,nodes,speed_MB/s\n" + rows)
    (made,) = items(tmp_path / "t.csv", "--bound", "clients=nodes,client-net=100MB/s")["items"]
    (line,) = made["rooflines"]
    assert sorted({point["setting"] for point in line["points"]}) == ["fs=a", "fs=b"] and len(line["points"]) == 6
    rows = "".join(f"{fs},{net}MB/s,{net // 2 + r}\n" for fs, net in (("a", 100), ("b", 200)) for r in range(3))
    (tmp_path / "t.csv").write_text("fs,link,speed_MB/s\n" + rows)
    (made,) = items(tmp_path / "t.csv", "--bound", "client-net=link")["items"]
    assert len(made["rooflines"]) == 2


@pytest.mark.usefixtures("page_without_models")
def test_names_from_data_are_text_in_every_new_part(tmp_path):
    bad = "<img src=x onerror=alert(1)>$$x$$"
    rows = "".join(
        f"{fs}{bad},{size},{100 * size + r + (50 if fs == 'a' else 0)}\n"
        for fs in "ab"
        for size in range(1, 9)
        for r in range(3)
    )
    (tmp_path / "t.csv").write_text(f"fs{bad},size,speed_MB/s\n" + rows)
    out = run(report, tmp_path / "t.csv", "-o", tmp_path / "p.html", "--bound", "net=1GB/s", "--choose", f"fs{bad}")
    assert out.exit_code == 0, out.exception
    html = re.sub(r"<script>.*?</script>", "", (tmp_path / "p.html").read_text(), flags=re.DOTALL)
    assert "<img" not in html and "&lt;img" in html

"""``iosonde upgrade --plot``: the limiting part is the marked one, numbers are the bound's, text is only text."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from iosonde.answers.cluster import read_cluster
from iosonde.commands.upgrade import figure as cluster_plot
from iosonde.commands.upgrade.answer import compute_today
from iosonde.commands.upgrade.figure_cluster import ClusterDrawing, choose_drawn_numbers, cluster_figure, format_amount
from iosonde.core.types import Estimate
from iosonde.core.units import format_rate
from iosonde.explain.upgrade import Cluster, Quantity
from iosonde.explain.upgrade_today import compute_bound_today
from iosonde.layout.vocabulary import VERMILION
from iosonde.model.bound.bound import TERMS
from messages import codes, raises
from page_sample import HOSTILE
from terminal import command_of

command = command_of("upgrade")

EXAMPLE = Path(__file__).parents[2] / "examples" / "upgrade.yaml"
MB = 1e6
# Field → a value at which it limits ALL.
SLOW = {
    "cpu": 1e-3,
    "client_network": 1.0,
    "server_network": 1.0,
    "disk_write": 1.0,
    "fabric": 1.0,
    "server_cpu": 1e-3,
    "memory_copy": 1.0,
    "latency": 1e5,
    "metadata_rate": 1e-6,
}
ALL = {
    "clients": 1000,
    "servers": 2,
    "disks": 25,
    "client_network": 1e9,
    "server_network": 1e10,
    "disk_write": 200 * MB,
    "fabric": 4e11,
    "cpu": 1e-9,
    "server_cpu": 1e-11,
    "memory_copy": 8e9,
    "latency": 2e-3,
    "request_size": 2**20,
    "metadata_rate": 1e6,
    "file_size": 2**20,
}


def cluster(name: str = "c", words: dict | None = None, **values: float | tuple[float, float]) -> Cluster:
    ends = {key: value if isinstance(value, tuple) else (value, value) for key, value in values.items()}
    return Cluster(name, {k: Quantity((low * high) ** 0.5, low, high) for k, (low, high) in ends.items()}, words or {})


def content(made: Cluster, level: float) -> ClusterDrawing:
    return cluster_plot.build_cluster_drawing(made, compute_today(made, level), level)


def texts(made: Cluster) -> list[str]:
    return [row["said"] for one in layers(content(made, 0.95), "text") for row in one["data"]["values"]]


def layers(drawing, mark: str) -> list[dict]:
    return [one for one in cluster_figure(drawing).spec["layer"] if one["mark"]["type"] == mark]


@pytest.mark.parametrize("slow", SLOW)
def test_what_limits_is_marked_and_nothing_else(slow):
    made = cluster(**{**ALL, slow: SLOW[slow]})
    (limit,) = compute_bound_today(made, 0.95).ceiling.limit
    drawing = content(made, 0.95)
    marked = [one for part in drawing.parts.values() for one in part.passed if one.limits]
    assert [one.rate.value for one in marked] == [pytest.approx(compute_bound_today(made, 0.95).s.value)]
    assert marked[0].formula.split("/")[0] == TERMS[limit][0].split("/")[0]
    assert texts(made).count("limits") == 1
    marked = [
        one["mark"]
        for mark in ("rule", "rect")
        for one in layers(drawing, mark)
        if VERMILION in (one["mark"].get("color"), one["mark"].get("stroke"))
    ]
    drawn = [
        row
        for mark in ("rule", "rect")
        for one in layers(drawing, mark)
        if one["mark"] in marked
        for row in one["data"]["values"]
    ]
    assert len(drawn) >= 2, "the frame of the number, and the part itself"
    assert all(one["strokeWidth"] > 2 for one in marked)
    assert sum(part.limits for part in drawing.parts.values()) == 1


def test_every_term_of_the_bound_is_shown_once_with_its_rate():
    made = cluster(**ALL)
    said = texts(made)
    for term in compute_bound_today(made, 0.95).ceiling.terms:
        assert format_rate(term.bytes_per_s, "bytes/s") in said
    passed = [one for part in content(made, 0.95).parts.values() for one in part.passed]
    assert len(passed) == len(TERMS)


def test_many_nodes_are_the_first_dots_and_the_last():
    assert (
        choose_drawn_numbers(4) == (1, 2, 3, 4)
        and choose_drawn_numbers(5) == (1, None, 5)
        and choose_drawn_numbers(1) == (1,)
    )
    said = texts(cluster(**ALL))
    assert {"1000 clients", "client 1", "client 1000", "2 servers", "server 2", "25 disks", "13", "12"} <= set(said)
    assert "client 2" not in said and "⋮" in said
    assert any(re.match(r"1 client \(", text) for text in texts(cluster(servers=2, disks=2, disk_write=MB)))


def test_intervals_are_those_of_the_file():
    made = compute_bound_today(cluster(servers=4, network=(112 * MB, 118 * MB)), 0.95)
    assert made.terms["network_servers"].low == pytest.approx(4 * 112 * MB, rel=0.01)
    assert made.terms["network_servers"].high == pytest.approx(4 * 118 * MB, rel=0.01)
    assert "110 (107–113) MiB/s" in texts(cluster(servers=4, network=(112 * MB, 118 * MB)))
    exact = compute_bound_today(cluster(servers=4, network=112 * MB), 0.95)
    assert exact.s == Estimate(112 * MB, None, None, 0.95, 0) and exact.limits == {"network_clients": 1.0}
    assert format_amount(exact.s, "bytes/s") == "107 MiB/s"


def test_what_may_limit_as_well_is_said_only_where_it_may():
    near = {"clients": 9, "servers": 4, "disks": 4, "server_network": (90 * MB, 110 * MB)}
    made = compute_bound_today(cluster(**near, disk_write=(93 * MB, 113 * MB)), 0.95)
    assert made.ceiling.limit == ("network_servers",) and 0.2 < made.limits["disks"] < 0.5
    assert sum(made.limits.values()) == pytest.approx(1)
    assert "Perhaps" in content(cluster(**near, disk_write=(93 * MB, 113 * MB)), 0.95).sentences[1]
    far = content(cluster(**near, disk_write=500 * MB), 0.95)
    assert not any("Perhaps" in one for one in far.sentences)
    # One network for both sides: 5 links always carry more than 4, although the intervals overlap.
    both = compute_bound_today(cluster(clients=5, servers=4, network=(80 * MB, 120 * MB)), 0.95)
    assert set(both.limits) == {"network_servers"}


def test_what_is_not_known_says_so_and_a_bound_that_is_not_is_no_number():
    unknown = set(texts(cluster(servers=2, network=MB))) - set(texts(cluster(servers=2, disks=2, network=MB, disk=MB)))
    assert any("unknown" in text.split() for text in unknown)
    said = texts(cluster(servers=3, disks=10))
    assert codes(content(cluster(servers=3, disks=10), 0.95).sentences)[0] == "no-known-limit"
    assert not any(re.search(r"B/s|limits", text) for text in said)


def test_copies_and_stripes_are_said():
    copies = cluster(words={"redundancy": "client"}, servers=4, disks=8, disk=MB, replicas=2, stripe_count=2)
    assert re.findall(r"\d+", content(copies, 0.95).sentences[1])[-2:] == ["2", "2"]
    code = cluster(words={"redundancy": "erasure"}, servers=6, disks=6, disk=MB, data_chunks=4, parity_chunks=2)
    assert "4+2" in content(code, 0.95).sentences[1]


@pytest.mark.parametrize("name", [HOSTILE, "$\\frac{", "x" * 5000, "<b>\x1b[31m"])
def test_a_hostile_name_is_text(name):
    image = cluster_figure(content(cluster(name, servers=2, network=MB), 0.95)).image("svg").decode()
    assert "\x1b" not in image and "<b>" not in image and "<img" not in image and "x" * 80 not in image
    if name == "$\\frac{":
        assert name in image


def test_nothing_leaves_the_page():
    """Also of the largest counts and the longest intervals."""
    wide = {
        name: (value * 0.9, value * 1.1) if name not in ("clients", "servers", "disks") else value
        for name, value in ALL.items()
    }
    drawing = content(cluster("W" * 40, **{**wide, "clients": 10**9}), 0.95)
    spec = cluster_figure(drawing).spec
    svg = cluster_figure(drawing).image("svg").decode()
    width = int(re.search(r'width="(\d+)"', svg)[1])
    assert abs(width - spec["width"]) <= 12, "a text beyond the edge would have made the drawing wider"
    assert "…</text>" not in svg.replace(">…</text>", "")


def test_the_same_bytes_each_time_and_the_text_beside(tmp_path):
    plain = CliRunner().invoke(command, [str(EXAMPLE)], catch_exceptions=False)
    for name in ("a.svg", "b.svg"):
        done = CliRunner().invoke(command, [str(EXAMPLE), "--plot", str(tmp_path / name)], catch_exceptions=False)
        assert done.exit_code == 0 and done.stdout == plain.stdout and f"wrote {tmp_path / name}" in done.stderr
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert "439 (428–450) MiB/s" in (tmp_path / "a.svg").read_text()


@pytest.mark.parametrize("name", ["a.gif", "a", "svg"])
def test_another_ending_is_refused_before_anything_is_read(tmp_path, name):
    with raises("unknown-file-format"):
        CliRunner().invoke(command, ["missing.yaml", "--plot", str(tmp_path / name)], catch_exceptions=False)
    assert not list(tmp_path.iterdir())


def test_without_a_cluster_there_is_no_drawing(tmp_path):
    (tmp_path / "c.yaml").write_text("cpus: {a: {points: 1, watts: 1}}")
    with raises("missing-cluster"):
        CliRunner().invoke(
            command, [str(tmp_path / "c.yaml"), "--plot", str(tmp_path / "a.svg")], catch_exceptions=False
        )
    assert not (tmp_path / "a.svg").exists()


def test_the_drawing_of_the_example_is_that_of_its_file():
    asked = read_cluster(str(EXAMPLE))
    drawing = content(replace(asked.cluster, name="n"), 0.95)
    assert drawing.parts["server_links"].limits and drawing.parts["disks"].title == "4 disks"
    assert [one.disks for one in drawing.servers] == [1, 1, 1, 1]
    assert [one and one.title for one in drawing.clients] == ["client 1", None, "client 8"]


def test_nodes_of_a_file_are_drawn_by_their_names_with_their_roles_and_disks():
    found = read_cluster(
        {
            "name": "x",
            "today": {"network": "112MB/s", "disk": "60MB/s"},
            "nodes": {
                "head": "login",
                "n[1-6]": "compute",
                "both": ["client", "server"],
                "mds": "metadata",
                "io1": {"role": "server", "disks": 4},
                "io2": {"role": ["server", "metadata"], "disks": 1},
                "silo[1-5]": "tape",
            },
        }
    )
    drawing = cluster_plot.build_cluster_drawing(found.cluster, compute_today(found.cluster, 0.95), 0.95, found.nodes)
    assert [one and (one.title, one.fact.split()[1:]) for one in drawing.clients] == [
        ("n1", []),
        None,
        ("both", ["server"]),
    ]
    assert [(one.title, one.fact.split()[1:], one.disks) for one in drawing.servers] == [
        ("both", ["client"], None),
        ("io1", [], 4),
        ("io2", ["metadata"], 1),
    ]
    assert [(one.title, re.findall(r"\w*\d|head", one.fact)) for one in drawing.others] == [
        ("login", ["head"]),
        ("tape", ["silo1", "silo2", "3"]),
    ]
    assert drawing.parts["metadata"].title.split(": ") == ["metadata", ", ".join(("mds", "io2"))]
    said = [row["said"] for one in layers(drawing, "text") for row in one["data"]["values"]]
    assert {"n1", "io1", "head", "tape", "4"} <= set(said) and "n2" not in said
    assert "mixed-nodes" in codes(drawing.sentences)


def test_a_name_of_a_node_is_text_and_fits_into_its_box():
    found = read_cluster({"nodes": {"n" * 90: "compute"}, "today": {"servers": 1, "network": "1MB/s"}})
    drawing = cluster_plot.build_cluster_drawing(found.cluster, compute_today(found.cluster, 0.95), 0.95, found.nodes)
    (client,) = [
        row["said"] for one in layers(drawing, "text") for row in one["data"]["values"] if row["said"].startswith("nnn")
    ]
    assert client == "n" * 19 + "…"

"""A column computed from others, as ranks = nodes × ranks per node, is no factor of its own, in every command."""

import json
from itertools import product

import numpy as np
import pytest
from click.testing import CliRunner

from iosonde.core.computed_columns import find_computed_columns
from iosonde.core.types import Observation, Run
from iosonde.store import Store
from terminal import command_of


def run_cli(name, *arguments):
    return CliRunner().invoke(command_of(name), arguments, catch_exceptions=False)


HEADER = ["nodes", "ppn", "ranks", "layout", "write_mib_s"]


def columns(names, rows):
    return dict(zip(names, np.array(rows, dtype=float).T, strict=True))


GRID = [(nodes, ppn, nodes * ppn) for nodes, ppn in product([1, 2, 4], [1, 4, 16])]


@pytest.mark.parametrize(
    ("names", "rows", "formulas"),
    [
        ("nodes ppn ranks", GRID, {"ranks": "nodes × ppn"}),
        ("ranks nodes ppn", [row[-1:] + row[:2] for row in GRID], {"ranks": "nodes × ppn"}),
        (
            "total ranks block",
            [(t, r, t / r) for t, r in product([16, 32, 64], [1, 2, 4])],
            {"block": "total ÷ ranks"},
        ),
        ("readers writers all", [(r, w, r + w) for r, w in product([1, 3], [1, 5])], {"all": "readers + writers"}),
        ("n kib mib", [(n, k, n * k / 1024) for n, k in product([1, 2, 4], [64, 256])], {"mib": "n × kib ÷ 1024"}),
        (
            "nodes ppn block ranks total",
            [(n, p, b, n * p, n * p * b) for n, p, b in product([1, 2, 4], [1, 4], [8, 32])],
            {"ranks": "nodes × ppn", "total": "nodes × ppn × block"},
        ),
        # The generated column of a fraction, and that of a Latin square, have a grid with each other column.
        ("a b c", [(a, b, a * b) for a, b in product([-1, 1], [-1, 1])], {}),
        ("a b c", [(a, b, (a + b) % 3) for a, b in product(range(3), range(3))], {}),
        ("a both c", [(a, 2, 2 * a) for a in (1, 2, 4, 8)], {}),  # an alias
        ("nodes ppn ranks", [*GRID[:-1], (4, 16, 65)], {}),
    ],
)
def test_a_product_of_others_is_computed_unless_a_row_differs_or_it_has_a_grid_with_them(names, rows, formulas):
    assert find_computed_columns(columns(names.split(), rows)) == formulas


def test_missing_values_are_where_a_part_is_missing():
    nan = float("nan")
    rows = [*GRID, (nan, 4, nan), (2, nan, nan)]
    assert list(find_computed_columns(columns(["nodes", "ppn", "ranks"], rows))) == ["ranks"]
    assert find_computed_columns(columns(["nodes", "ppn", "ranks"], [*rows, (2, 4, nan)])) == {}


def test_a_column_to_be_kept_is_not_computed_and_neither_are_its_parts():
    assert find_computed_columns(columns(["nodes", "ppn", "ranks"], GRID), ["ranks"]) == {}


def draw_rates():
    """Draw three trials of each (nodes, ppn, ranks, layout, rate)."""
    rng = np.random.default_rng(7)
    return [
        (n, p, n * p, layout, round(100 * n**0.9 * p**0.4 * (1.1 if layout == "ssf" else 1) * np.exp(e), 3))
        for n, p, layout in product([1, 2, 4], [1, 4, 16], ["ssf", "fpp"])
        for e in rng.normal(0, 0.03, 3)
    ]


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "grid.csv"
    path.write_text("\n".join(",".join(map(str, row)) for row in [HEADER, *draw_rates()]))
    return str(path)


@pytest.fixture
def store(tmp_path):
    """Write the same rates as an import."""
    path = Store.create(tmp_path / "store")
    for number, (nodes, ppn, ranks, layout, rate) in enumerate(draw_rates()):
        factors = {"nodes": nodes, "ranks_per_node": ppn, "ranks": ranks, "layout": layout}
        rows = [Observation("write", "bandwidth_last_done", rate * 2**20, "bytes/s", None)]
        facts = {"import": {"file": f"ior{number}.txt"}}
        time = f"2026-11-22T10:{number:02d}:00Z"
        path.append(Run(f"e-{number:04d}", "e", "ior", time, 1.0, factors, rows, facts=facts))
    return str(tmp_path / "store")


def names_of(document):
    return [factor["name"] for factor in document["rankings"][0]["factors"]]


@pytest.mark.parametrize("data", ["table", "store"])
def test_no_command_ranks_a_computed_column_and_each_says_so(data, request, tmp_path):
    path, ppn = request.getfixturevalue(data), "ppn" if data == "table" else "ranks_per_node"
    ranking = json.loads(run_cli("rank", path, "--json").stdout)
    shares = {factor["name"]: factor["share"]["value"] for factor in ranking["rankings"][0]["factors"]}
    assert set(shares) == {"nodes", ppn, "layout"}
    assert shares["nodes"] > 0.2 < shares[ppn], "the effects of a grid, not what each adds to all others"
    terms = json.loads(run_cli("anova", path, "--json").stdout)["terms"]
    assert [term["name"] for term in terms if term["name"] not in ("residual", "total")] == ["nodes", ppn, "layout"]
    assert set(json.loads(run_cli("summary", path, "--json").stdout)["groups"][0]["by"]) == {"nodes", ppn, "layout"}
    formula = f"ranks = nodes × {ppn}: left out"
    page = tmp_path / "page.html"
    for command in (["rank"], ["anova"], ["summary"], ["fit"], ["plot", "-o", str(tmp_path / "a.svg")]):
        result = run_cli(command[0], path, *command[1:])
        assert result.exit_code == 0
        assert formula in " ".join((result.stdout + result.stderr).split()), command
    assert run_cli("report", path, "-o", str(page)).exit_code == 0
    assert formula in page.read_text() and "confounded" not in page.read_text()
    advice = json.loads(run_cli("advise", path, "--choose", "layout", "--json").stdout)
    assert advice["given"] == ["nodes", ppn]


@pytest.mark.parametrize("data", ["table", "store"])
def test_a_computed_column_that_is_named_is_used(data, request):
    path = request.getfixturevalue(data)
    ranking = json.loads(run_cli("rank", path, "--on", "ranks,layout", "--json").stdout)
    assert names_of(ranking) == ["ranks", "layout"]
    assert "ranks" in names_of(json.loads(run_cli("rank", path, "--roles", "ranks=setting", "--json").stdout))


def test_what_varies_besides_named_factors_is_no_computed_column(table):
    warnings = json.loads(run_cli("rank", table, "--on", "nodes,layout", "--json").stdout)["rankings"][0]["warnings"]
    assert any("ppn" in text for text in warnings) and not any("ranks" in text for text in warnings)

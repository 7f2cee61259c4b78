"""What other commands leave out of a table, check examines."""

from __future__ import annotations

import numpy as np

from iosonde.data.tables import read_file
from iosonde.stats.checks.examine import examine_table


def test_a_number_in_another_unit_is_in_the_data_that_are_checked(tmp_path):
    values = np.round(100 * (1 + 0.03 * np.random.default_rng(3).standard_normal(12)), 2).tolist()
    values[7] *= 1000
    path = tmp_path / "table.csv"
    path.write_text("fs,MB/s\n" + "".join(f"{('a', 'b')[at // 6]},{value}\n" for at, value in enumerate(values)))
    table = read_file(str(path))
    assert table.columns["MB/s"].missing.sum() == 1
    codes = [finding.code for finding in examine_table(table, 0.95, ["MB/s"], ["fs"], bound=1e9).findings]
    assert codes.count("S126") == 1 and "S127" in codes and "S123" not in codes

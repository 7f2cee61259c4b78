"""Questions of a file, and a benchmark that a file names."""

from __future__ import annotations

import pytest

from iosonde.campaign import benchmarks
from iosonde.campaign.asked_of import read_questions
from iosonde.core.problems import SpecError
from messages import raises


def test_a_file_of_questions_is_checked(tmp_path):
    file = tmp_path / "q.yaml"
    file.write_text("questions:\n  - question: Why?\n    compare: {grop: fs}\n")
    with pytest.raises(SpecError) as wrong:
        read_questions(file)
    assert any("grop" in f"{one.key} {one.what}" for one in wrong.value.problems)
    file.write_text("name: x\n")
    with raises("missing-questions"):
        read_questions(file)


def test_a_file_that_names_a_benchmark_has_its_steps_and_its_factors():
    made = benchmarks.merge_benchmark({"name": "x", "benchmark": "user:all", "factors": {"files": [10]}})
    assert made["name"] == "x" and made["factors"]["files"] == [10] and made["factors"]["cache"] == ["warm"]
    names = [step["name"] for step in made["steps"]]
    assert {"cp", "find", "findgrep", "grep", "ls", "mab_compile", "rcp", "rm"} <= set(names) and names[
        -1
    ] == "rm_flush"
    with raises("conflicting-keys", key="benchmark", other_key="steps"):
        benchmarks.merge_benchmark({"benchmark": "user:cp", "steps": ["true"]})
    assert benchmarks.merge_benchmark({"steps": ["true"]}) == {"steps": ["true"]}

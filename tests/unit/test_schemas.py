"""The published JSON Schemas (docs/schemas) hold for what the commands print."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
import store_samples
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from iosonde.commands.parse.answer import Parse
from iosonde.importers import read, understand
from iosonde.store import Store
from terminal import command_of

parse = command_of("parse")
show = command_of("show")

ROOT = Path(__file__).parents[2]
FIXTURES = sorted(path for path in (ROOT / "tests/golden/fixtures").glob("*/*"))


def validator(name: str) -> Draft202012Validator:
    schema = json.loads((ROOT / "docs/schemas" / f"{name}.schema.json").read_text())
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def output(command, *args: str) -> dict:
    result = CliRunner().invoke(command, [*args], catch_exceptions=False, standalone_mode=False)
    return json.loads(result.stdout)


@pytest.mark.parametrize(("name", "options"), [("results", ["--incomplete"]), ("operations", ["--operations"])])
def test_exports_are_what_the_schema_says(tmp_path, name, options):
    store = Store.create(tmp_path / "s")
    store.save_experiment(store_samples.experiment())
    store.append(store_samples.run())
    store.append(store_samples.run("run-2", missing=["rank 1 died"]))
    exported = output(show, str(store.path), "--export", "json", *options)
    assert exported["rows"]
    validator(name).validate(exported)
    exported["rows"][0]["run"] = 7
    assert not validator(name).is_valid(exported)


def test_every_capture_is_parsed_into_what_the_schema_says():
    check = validator("parse")
    for path in FIXTURES:
        text = read(io.BytesIO(path.read_bytes()), path.name)
        check.validate(json.loads(json.dumps(Parse(text, understand(text)).to_dict())))


def test_a_file_that_nobody_knows_too(tmp_path):
    (tmp_path / "x").write_text("hello\n")
    result = CliRunner().invoke(parse, [str(tmp_path / "x"), "--json"], standalone_mode=False)
    validator("parse").validate(json.loads(result.stdout))

"""``iosonde lab run FILE`` of an experiment that asks for labs: each is brought up, measured in, and taken down."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import click

from iosonde import campaign
from iosonde import lab as labs
from iosonde.campaign.in_lab import LabSetting
from iosonde.campaign.request import Request
from iosonde.cli.caller import caller
from iosonde.cli.commands import run, summary
from iosonde.cli.options.data import DataOptions
from iosonde.cli.output import talk
from iosonde.core import yaml_text
from iosonde.core.errors import PROBLEM_FOUND
from iosonde.data.asked import LAST_DONE

_KEY = "lab"


def asks_for_labs(words: Sequence[str]) -> bool:
    """Whether the words of ``iosonde run`` name a file with a section `lab`."""
    file = _file(words)
    return file is not None and _KEY in yaml_text.load(file).data


def measure(words: Sequence[str]) -> None:
    """All trials that are left, lab by lab; then the summary of the experiment. Ends with the exit code of the first
    ``iosonde run`` that fails."""
    context = run.command.make_context("iosonde lab run", list(words))
    options = {key: value for key, value in context.params.items() if key in Request.__dataclass_fields__}
    name = _name(words)
    target = labs.target_of(name)
    asked = Request(**options | {"target": (str(target),)})
    begun = campaign.run.begin_in_lab(asked, context.params["level"], caller())
    incomplete, seen = False, list[LabSetting]()
    while setting := begun.next_setting(seen):
        seen.append(setting)
        code = _in_one(name, setting, words)
        incomplete = incomplete or code == PROBLEM_FOUND
        if code not in (0, PROBLEM_FOUND):
            raise click.exceptions.Exit(code)
    level, as_json = context.params["level"], context.params["as_json"]
    summary.show(DataOptions(begun.store, (), (), (), (), LAST_DONE, (), begun.experiment, level, as_json))
    talk(f"stored in {begun.store}; the page: iosonde report {begun.store}")
    if incomplete:
        raise click.exceptions.Exit(PROBLEM_FOUND)


def _in_one(name: str, setting: LabSetting, words: Sequence[str]) -> int:
    """Measure in one lab what belongs there; the exit code."""
    if setting.levels:
        said = ", ".join(f"{factor}={level}" for factor, level in setting.levels.items())
        talk(f"lab for {said}, repetition {setting.repetition}")
    described = labs.described({"clients": setting.n_clients, **setting.words, "name": name}, setting.options)
    lab = labs.up(described, talk, setting=setting.to_dict())
    try:
        inside = lab.clients[0]
        run_words = inside.words(*labs.run_words(lab, words), directory=os.getcwd())
        done = subprocess.run(run_words, env=inside.environment(), stdout=subprocess.DEVNULL, check=False)
        return done.returncode
    finally:
        labs.down(lab.name)


def _file(words: Sequence[str]) -> Path | None:
    files = [Path(word) for word in words if word.endswith((".yaml", ".yml", ".json")) and Path(word).is_file()]
    return files[0] if files else None


def _name(words: Sequence[str]) -> str:
    """Of its labs, one after another: the file's own word, else the file's name."""
    file = _file(words)
    assert file is not None
    told = yaml_text.load(file).data[_KEY]
    given = told.get("name") if isinstance(told, dict) else None
    return str(given or re.sub(r"[^a-z0-9-]+", "-", file.stem.lower()).strip("-")[:31] or "lab")

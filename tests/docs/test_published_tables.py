"""The tables of published against measured numbers are what is computed now (``make published``)."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

SCRIPT = Path(__file__).parents[2] / "docs" / "reproductions" / "verdicts.py"


def load_script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("published_verdicts", SCRIPT)
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_has_the_tables_that_are_computed():
    script = load_script()
    page = script.PAGE.read_text(encoding="utf-8")
    written = page.partition(script.BEGIN)[2].partition(script.END)[0]
    assert written.strip() == script.build_tables().strip()

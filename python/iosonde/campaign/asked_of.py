"""The questions of a file, to be asked of a store that is there: ``iosonde report STORE --questions FILE``."""

from __future__ import annotations

from pathlib import Path

from iosonde.core import questions, yaml_text
from iosonde.core.errors import InputError
from iosonde.core.problems import SpecError
from iosonde.core.questions import AskedQuestion
from iosonde.core.yaml_text import Document

from .spec import schema


def questions_of(file: Path) -> list[AskedQuestion]:
    """What an experiment file, or one with this key alone, asks. Raises InputError."""
    if not file.is_file():
        raise InputError(f"there is no file {file}", "give the path of a file with the key questions")
    found = yaml_text.load(file)
    if questions.KEY not in found.data:
        raise InputError(f"{file} asks no questions", "its key: questions (docs/experiment.md)")
    part = Document({"steps": ["true"], questions.KEY: found.data[questions.KEY]}, found.name, found.places)
    if wrong := schema.problems(part):
        raise SpecError(found.name, wrong)
    return questions.read(part.data[questions.KEY])

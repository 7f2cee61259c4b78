"""Questions of a file: for an existing store (``iosonde report STORE --questions FILE``), or checked for an experiment
before it is measured."""

from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path

from iosonde.core import questions, yaml_text
from iosonde.core.declared_names import collect_declared_names
from iosonde.core.errors import InputError
from iosonde.core.message import Message
from iosonde.core.problems import SpecError
from iosonde.core.questions import DeclaredQuestion
from iosonde.core.stored import PLACES
from iosonde.core.yaml_text import Document
from iosonde.foreign.reach import check_reachable

from .campaign import Campaign
from .document import resolve_claims
from .spec import schema
from .spec.check import RESERVED


def read_questions(file: Path) -> list[DeclaredQuestion]:
    """Read the questions of an experiment file, or of one with this key alone. Raises InputError."""
    check_reachable(file)
    if not file.is_file():
        raise InputError(
            "no-such-file", "{path} does not exist", "give the path of a file with the key questions", path=file
        )
    document = resolve_claims(yaml_text.load(file), file.parent)
    if questions.KEY not in document.data:
        raise InputError(
            "missing-questions", "{path} has no questions", "add the key questions (docs/experiment.md)", path=file
        )
    return build_questions(document)


def build_questions(document: Document) -> list[DeclaredQuestion]:
    """Check the questions of a file and return them. Raises SpecError."""
    part = Document({"steps": ["true"], questions.KEY: document.data[questions.KEY]}, document.name, document.places)
    if wrong := schema.list_schema_problems(part):
        raise SpecError(document.name, wrong)
    return questions.read(part.data[questions.KEY], collect_declared_names(document.data))


def find_misspelled_factors(campaign: Campaign) -> Iterator[str]:
    """Yield a sentence for each name in a question that looks like a misspelled factor. Others may be facts of a trial,
    or settings in a command's output, known only after measuring."""
    factors = {factor.name for factor in campaign.spec.factors} | _collect_declared(campaign)
    for place, question in enumerate(questions.read(campaign.terms.questions)):
        for word in questions.FACTOR_WORDS:
            for name in question.names(word):
                is_declared = name in factors or name in RESERVED or name in PLACES or not name.isidentifier()
                if not is_declared and (near := get_close_matches(name, factors, n=1)):
                    yield Message(
                        "unknown-factor",
                        "questions[{index}]: {key}: the experiment has no factor '{factor}'; "
                        "did you mean {suggestion}?",
                        index=place,
                        key=word,
                        factor=name,
                        suggestion=near[0],
                    )


def _collect_declared(campaign: Campaign) -> frozenset[str]:
    text = (campaign.file or {}).get("text")
    return collect_declared_names(yaml_text.parse(text, "").data) if text else frozenset()

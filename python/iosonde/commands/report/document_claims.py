"""The claims of a document, each answered by the question of the campaign, or of the document, that has it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from iosonde.agreement.claims import (
    KEY,
    describe_derivation,
    find_statement,
    judge_claim,
    recompute_numbers,
    resolve_claim,
    select_claimed,
)
from iosonde.agreement.documents import DocumentClaim
from iosonde.campaign.asked_of import build_questions
from iosonde.core import questions, yaml_text
from iosonde.core.errors import InputError
from iosonde.core.questions import DeclaredQuestion
from iosonde.core.yaml_text import Document
from iosonde.data.query import ResponseQuery
from iosonde.data.source import open_data
from iosonde.foreign.reach import check_reachable
from iosonde.importers.published_figures import Publication

from .content import AnsweredQuestion
from .questions import answer_questions

_DOCUMENT = "document"


def judge_document_claims(publication: Publication, query: ResponseQuery) -> list[DocumentClaim]:
    """Judge the claims of a document by its campaigns' trials, then those by its own numbers. Raises InputError,
    DataError, SpecError."""
    if publication.file is None:
        return []
    folder = publication.file.parent
    sources = [(folder / campaign.experiment, folder / campaign.data) for campaign in publication.campaigns]
    sources += [(publication.file, publication.file)] if publication.has_questions else []
    return [claim for file, data in sources for claim in _judge_file(publication, file, data, query)]


def _judge_file(publication: Publication, file: Path, data: Path, query: ResponseQuery) -> Iterator[DocumentClaim]:
    """Yield the claims about the document in the questions of one file."""
    for path in (file, data):
        check_reachable(path)
    if not file.is_file():
        hint = "give its path from the directory of the document's file"
        raise InputError("no-such-file", "{path} does not exist", hint, path=file)
    document = yaml_text.load(file)
    entries = [_select_own(entry, publication, file) for entry in document.data.get(questions.KEY, ())]
    entries = [entry for entry in entries if entry.get(KEY)]
    resolved = [{**entry, KEY: [resolve_claim(claim, file.parent) for claim in entry[KEY]]} for entry in entries]
    declared = build_questions(Document({**document.data, questions.KEY: resolved}, document.name, document.places))
    for entry, question in zip(entries, declared, strict=True):
        (answered,) = answer_questions([question], partial(open_data, str(data)), query, str(data))
        claims = _judge_question(publication, entry, question, answered, file == publication.file)
        yield from (replace(claim, file=file.name) for claim in claims)


def _select_own(entry: Mapping[str, Any], publication: Publication, file: Path) -> dict[str, Any]:
    """Return a question with the claims about this document alone; in its own file they need not name it."""
    assert publication.file is not None
    own = publication.file.resolve()
    claims = [
        {_DOCUMENT: publication.file.name, **claim} if file == publication.file else claim
        for claim in entry.get(KEY, ())
    ]
    return {
        **entry,
        KEY: [
            claim for claim in claims if _DOCUMENT in claim and (file.parent / str(claim[_DOCUMENT])).resolve() == own
        ],
    }


def _judge_question(
    publication: Publication,
    entry: Mapping[str, Any],
    question: DeclaredQuestion,
    answered: AnsweredQuestion,
    is_stated: bool,
) -> Iterator[DocumentClaim]:
    answer = None if answered.answer is None else answered.answer.to_dict()
    for claim, resolved in zip(entry[KEY], question.claims, strict=True):
        if "find" in claim:
            for number, judged in recompute_numbers(claim, publication, answer or {}):
                yield DocumentClaim(question.text, answered.command, (number,), None, judged, is_stated=is_stated)
            continue
        judged_claim = judge_claim(resolved, question.kind, answer)
        if judged_claim is not None:
            yield DocumentClaim(
                question.text,
                answered.command,
                select_claimed(publication, claim),
                find_statement(publication, claim),
                judged_claim,
                describe_derivation(publication, claim),
                is_stated=is_stated,
            )

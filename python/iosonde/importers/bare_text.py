"""Choice of what to remove around a tool's output: documents and labels of lines, by what importers read without them.

A candidate is removed if the importers then are at least as sure, and read more. Where they read as much, a label is
removed unless it is a time only, or the output was complete as it is.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from iosonde.core.message import Message

from .labels import Label, find_labels
from .parsed import Claim, Parsed
from .text import Note, Text
from .wrappings import Unwrapped, find_wrappings

# Characters from the begin and the end of a text on which candidates are tried.
_BEGIN_CHARACTERS, _END_CHARACTERS = 1 << 17, 1 << 16
_MAX_LAYERS = 4


class Rating(NamedTuple):
    """How well importers read a text; the larger the better."""

    has_rows: bool = False
    score: int = 0
    rows: int = 0
    complete: int = 0  # minus the number of missing parts
    settings: int = 0

    @classmethod
    def from_runs(cls, score: int, runs: list[Parsed]) -> "Rating":
        """Rate the executions that an importer with this score of its claim read."""
        rows = sum(len(run.rows) for run in runs)
        missing = sum(len(run.missing) for run in runs)
        settings = sum(len(run.factors) + len(run.facts) for run in runs)
        return cls(rows > 0, score, rows, -missing, settings)


@dataclass
class BareText:
    """A tool's output without what was around it; ``places``: lines of the file, None if they are those of ``text``.

    ``identity``: the label that told it from the outputs of other nodes, '' if there is one output."""

    text: Text
    places: list[int] | None = None
    identity: str = ""

    def restore_claim(self, claim: Claim) -> Claim:
        """Return the claim with its line in the file."""
        return claim._replace(line=self._restore(claim.line))

    def restore_lines(self, run: Parsed) -> Parsed:
        """Return the run with the lines of the file, and with its identity."""
        if self.identity:
            run.facts.setdefault("label", self.identity)
        if self.places is not None:
            for row in run.rows:
                row.line = self._restore(row.line)
            run.warnings = self.restore_notes(run.warnings)
            run.missing = self.restore_notes(run.missing)
            run.invalid = self.restore_notes(run.invalid)
        return run

    def restore_notes(self, notes: list[Note]) -> list[Note]:
        """Return notes with the lines of the file."""
        return [Note(self._restore(note.line), note.sentence) for note in notes]

    def _restore(self, line: int) -> int:
        if self.places is None or line <= 0 or not self.places:
            return line
        return self.places[min(line, len(self.places)) - 1]


_Rate = Callable[[Text], Rating]


def extract_outputs(text: Text, rate: _Rate) -> list[BareText]:
    """Return the outputs in ``text``: usually one, the text itself. ``rate``: how well importers read a text."""
    bare = BareText(text)
    for _ in range(_MAX_LAYERS):
        layer = _choose_layer(bare.text, rate)
        if layer is None:
            break
        if isinstance(layer, Label):
            if len(parts := _split(bare, layer, rate)) > 1:
                return parts
            bare = BareText(_rewrite(bare.text, layer.strip(bare.text.decoded), _note_label(layer)), bare.places)
        else:
            name, unwrap = layer
            unwrapped = unwrap(bare.text.decoded)
            bare = BareText(
                _rewrite(bare.text, unwrapped.content, _note_wrapping(name)), _join_places(bare, unwrapped)
            )
    return [bare]


def _join_places(bare: BareText, unwrapped: Unwrapped) -> list[int]:
    if bare.places is None:
        return unwrapped.places
    return [bare.places[min(place, len(bare.places)) - 1] for place in unwrapped.places]


def _choose_layer(text: Text, rate: _Rate) -> Label | tuple[str, Callable[[str], Unwrapped]] | None:
    sample = _cut_sample(text.decoded)
    layers = [*find_wrappings(sample), *find_labels(sample)]
    if not layers:
        return None
    native = _rate_sample(text, sample, rate)
    best, choice = native, None
    for layer in layers:
        content = layer.strip(sample) if isinstance(layer, Label) else layer[1](sample).content
        rating = _rate_sample(text, content, rate)
        if rating.score and rating.score >= native.score and (rating > best or (rating == best and _wins(layer, native))):
            best, choice = rating, layer
    return choice


def _wins(layer: Label | tuple[str, Callable[[str], Unwrapped]], native: Rating) -> bool:
    """Return whether a layer is removed if importers read as much without it."""
    if isinstance(layer, Label):
        return not layer.is_time and not (native.has_rows and not native.complete)
    return layer[0] == "HTML"


def _cut_sample(content: str) -> str:
    if len(content) <= 2 * (_BEGIN_CHARACTERS + _END_CHARACTERS):
        return content
    begin = content.rfind("\n", 0, _BEGIN_CHARACTERS) + 1 or _BEGIN_CHARACTERS
    end = content.find("\n", len(content) - _END_CHARACTERS) + 1 or len(content) - _END_CHARACTERS
    return content[:begin] + content[end:]


def _rate_sample(text: Text, content: str, rate: _Rate) -> Rating:
    return rate(Text(content.encode("utf-8", "replace"), text.name))


def _rewrite(text: Text, content: str, note: Note) -> Text:
    """Return a Text of ``content``, a part of ``text``, with its notes and damage."""
    notes = [earlier for earlier in text.notes if getattr(earlier.sentence, "code", "") != "decimal-comma"]
    result = Text(content.encode("utf-8", "replace"), text.name, [*notes, note])
    result.damage = list(text.damage)
    result.adjacent_version = text.adjacent_version
    return result


def _note_label(label: Label) -> Note:
    return Note(
        1, Message("labels-left-out", "labels before the lines, as '{label}', were left out", label=label.example)
    )


def _note_wrapping(name: str) -> Note:
    return Note(1, Message("wrapping-removed", "the output was taken out of {wrapping}", wrapping=name))


def _split(bare: BareText, label: Label, rate: _Rate) -> list[BareText]:
    """Return the output of each node, rank or pod if more than one has results of its own; else nothing."""
    sample = _cut_sample(bare.text.decoded)
    together = _rate_sample(bare.text, label.strip(sample), rate)
    ratings = {
        identity: _rate_sample(bare.text, content, rate) for identity, content in label.split(sample).items()
    }
    having = {identity for identity, rating in ratings.items() if rating.has_rows}
    apart = sum(rating.rows for rating in ratings.values())
    if len(having) < 2 or apart < together.rows:
        return []
    parts = label.split(bare.text.decoded)
    return [
        BareText(_rewrite(bare.text, content, _note_label(label)), bare.places, identity)
        for identity, content in parts.items()
        if identity in having or identity not in ratings
    ]

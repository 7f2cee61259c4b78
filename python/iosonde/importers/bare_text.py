"""Choice of what to remove around a tool's output: documents and labels of lines, by what importers read without them.

A candidate is removed if the importers then are at least as sure, and read more. Where they read as much, a label is
removed if it is before nearly all lines. It must be before the lines that they read.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from iosonde.core.message import Message

from .common_heads import find_common_heads
from .labels import Label, find_labels
from .parsed import Claim, Parsed
from .quoting import is_source
from .text import Note, Text
from .wrappings import HTML, Unwrapped, find_wrappings, has_html_in_most

# Characters from the begin and the end of a text on which candidates are tried.
_BEGIN_CHARACTERS, _END_CHARACTERS = 1 << 17, 1 << 16
_MAX_LAYERS = 6
_ALL_LINES = 0.95
_MOST_EVIDENCE = 0.8


class Rating(NamedTuple):
    """How much importers read in a text; the larger the better.

    What is missing does not count: without the label of an error, it may not be recognised any more."""

    has_rows: bool = False
    score: int = 0
    rows: int = 0
    settings: int = 0


class Attempt(NamedTuple):
    """What importers read in a text: its rating, and the lines of the evidence and of the rows."""

    rating: Rating = Rating()
    lines: tuple[int, ...] = ()

    @classmethod
    def from_runs(cls, claim: Claim, runs: list[Parsed]) -> "Attempt":
        """Rate the executions of an importer with this claim."""
        lines = [row.line for run in runs for row in run.rows]
        settings = sum(len(run.factors) + len(run.facts) for run in runs)
        return cls(Rating(bool(lines), claim.score, len(lines), settings), (claim.line, *lines))


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


_Layer = Label | tuple[str, Callable[[str], Unwrapped]]
_Read = Callable[[Text], Attempt]


def extract_outputs(text: Text, read: _Read) -> list[BareText]:
    """Return the outputs in ``text``: usually one, the text itself. ``read``: what importers read in a text."""
    bare = BareText(text)
    for _ in range(_MAX_LAYERS):
        layer = _choose_layer(bare.text, read)
        if layer is None:
            break
        if isinstance(layer, Label):
            if len(parts := _split(bare, layer, read)) > 1:
                return parts
            bare = BareText(_rewrite(bare.text, layer.strip(bare.text.decoded), _note_label(layer)), bare.places)
        else:
            name, unwrap = layer
            unwrapped = unwrap(bare.text.decoded)
            bare = BareText(_rewrite(bare.text, unwrapped.content, _note_wrapping(name)), _join_places(bare, unwrapped))
    return [bare]


def _join_places(bare: BareText, unwrapped: Unwrapped) -> list[int] | None:
    if bare.places is None or unwrapped.places is None:
        return unwrapped.places or bare.places
    return [bare.places[min(place, len(bare.places)) - 1] for place in unwrapped.places]


def _choose_layer(text: Text, read: _Read) -> _Layer | None:
    sample = _cut_sample(text.decoded)
    layers, heads = _find_layers(sample), find_common_heads(sample)
    if not layers and not heads:
        return None
    lines = sample.split("\n")
    native, evidence = read(text) if sample is text.decoded else _read_sample(text, sample, read)
    if not native.score and is_source(text.name):
        return None
    best, choice, has_elements = native, None, False
    for layer in [*layers, *heads]:
        # What is known goes first; with words, it may be how the tool itself begins its lines.
        if isinstance(layer, Label) and layer.is_unknown and (has_elements or (native.has_rows and layer.has_words)):
            continue
        attempt = _read_sample(text, _remove(layer, sample), read)
        if attempt.rating.score < native.score or not attempt.rating.score:
            continue
        if isinstance(layer, Label) and not _is_before(layer, lines, attempt.lines):
            continue
        is_as_good = attempt.rating == best and best.has_rows and _is_mixed_in(layer, lines)
        # A tag before the evidence hides settings, and so may give more rows.
        if attempt.rating > best or is_as_good or (attempt.rating.has_rows and _is_tagged(layer, lines, evidence)):
            best, choice = attempt.rating, layer
            has_elements = not (isinstance(layer, Label) and layer.is_unknown)
    if not best.has_rows and best.score:
        return _look_ahead(text, sample, read) or choice
    return choice


def _look_ahead(text: Text, sample: str, read: _Read) -> _Layer | None:
    """Return the layer behind which another one hides the results: a label inside a document, the reverse, or a label
    of nodes whose lines are mixed."""
    for outer in _find_layers(sample):
        parts = outer.split(sample).values() if isinstance(outer, Label) else ()
        if any(_read_sample(text, part, read).rating.has_rows for part in parts):
            return outer
        content = _remove(outer, sample)
        for inner in _find_layers(content):
            if _read_sample(text, _remove(inner, content), read).rating.has_rows:
                return outer
    return None


def _find_layers(sample: str) -> list[_Layer]:
    return [*find_wrappings(sample), *find_labels(sample)]


def _remove(layer: _Layer, content: str) -> str:
    return layer.strip(content) if isinstance(layer, Label) else layer[1](content).content


def _is_before(label: Label, lines: Sequence[str], evidence: Sequence[int]) -> bool:
    """Return whether the label is before most lines that importers read."""
    having = sum(label.pattern.match(lines[line - 1]) is not None for line in evidence if 0 < line <= len(lines))
    return having >= _MOST_EVIDENCE * len(evidence)


def _is_mixed_in(layer: _Layer, lines: Sequence[str]) -> bool:
    """Return whether a layer is removed although importers read as much with it: its marks may be in their words."""
    if isinstance(layer, Label):
        return layer.share >= _ALL_LINES and not layer.is_unknown
    return layer[0] == HTML and has_html_in_most(lines)


def _is_tagged(layer: _Layer, lines: Sequence[str], evidence: Sequence[int]) -> bool:
    """Return whether HTML is in the line of the evidence."""
    if isinstance(layer, Label) or layer[0] != HTML or not evidence:
        return False
    return has_html_in_most(lines[evidence[0] - 1 : evidence[0]])


def _cut_sample(content: str) -> str:
    if len(content) <= 2 * (_BEGIN_CHARACTERS + _END_CHARACTERS):
        return content
    begin = content.rfind("\n", 0, _BEGIN_CHARACTERS) + 1 or _BEGIN_CHARACTERS
    end = content.find("\n", len(content) - _END_CHARACTERS) + 1 or len(content) - _END_CHARACTERS
    return content[:begin] + content[end:]


def _read_sample(text: Text, content: str, read: _Read) -> Attempt:
    return read(Text(content.encode("utf-8", "replace"), text.name))


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


def _split(bare: BareText, label: Label, read: _Read) -> list[BareText]:
    """Return the output of each node, rank or pod if more than one has results of its own; else nothing."""
    sample = _cut_sample(bare.text.decoded)
    together = _read_sample(bare.text, label.strip(sample), read).rating
    ratings = {
        identity: _read_sample(bare.text, content, read).rating for identity, content in label.split(sample).items()
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

"""Sources and documents: tool output in a README, a script or a notebook is quoted, and not a result of its own. It is
recognised by the name, by a script's first line, or by the mark of a quotation (a Markdown fence, ``code-block::``)."""

import re
from pathlib import PurePath

from .text import Text

_DOCUMENTS = (
    "adoc asciidoc bib creole htm html ipynb markdown md mdx mdown mediawiki org pod qmd rmd rst rtf svg tex texi "
)
_SOURCES = (
    "awk bash bats c cc cmake cpp cs csh css cu cxx diff f f90 go h hh hpp hs ipp java jl js jsx kt ksh lua m4 php pl "
    "pm patch ps1 py pyi r rb rs scala sed sh sql swift tcl ts tsx vue yaml yml zsh"
)
_SUFFIXES = frozenset(f".{suffix}" for suffix in (_DOCUMENTS + _SOURCES).split())
_SOURCE_SUFFIXES = frozenset(_SOURCES.split())
_NAMES = frozenset(
    (
        "AUTHORS",
        "CHANGELOG",
        "CHANGES",
        "CONTRIBUTING",
        "COPYING",
        "HACKING",
        "HOWTO",
        "INSTALL",
        "LICENSE",
        "MAKEFILE",
        "NEWS",
        "README",
        "TODO",
    )
)
_QUOTATION = re.compile(
    r"^[ \t]*(?:```|~~~\w*$|\.\. (?:code|code-block|literalinclude|highlight)::|<pre\b|<!doctype html|\\begin\{|"
    r"#\+begin_(?:example|src)|\{(?:code|noformat)\b|diff --git |\.TH )",
    re.MULTILINE | re.IGNORECASE,
)


_IN_HTML = frozenset(("vdbench",))  # their own output
_IN_YAML = "published"  # a file of its own


def is_source(name: str) -> bool:
    """Return whether a file of this name is a program's source."""
    return PurePath(name).suffix.lower()[1:] in _SOURCE_SUFFIXES


def is_quoted(name: str, text: Text, line: int, form: str = "") -> bool:
    """Return whether ``line`` of this file, with output of ``form``, is quoted; ``line`` 0: somewhere in it."""
    path = PurePath(name)
    path = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    if form == _IN_YAML:
        return False
    if form in _IN_HTML and path.suffix.lower() in (".html", ".htm"):
        return False
    if path.suffix.lower() in _SUFFIXES or path.name.partition(".")[0].upper() in _NAMES or text.raw.startswith(b"#!"):
        return True
    match = _QUOTATION.search(text.content)
    return match is not None and (not line or text.line_of(match.start()) < line)

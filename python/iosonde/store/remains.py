"""Remaining text in a redacted copy: possible names or secrets, paths, and names given by people.

This module hides nothing. It lists what to review before the copy is shared.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from .hide import is_pseudonym
from .name_patterns import HARMLESS, NUMBERED_THING

_MAX_DIFFERENT = 10_000  # of each list; a store of a million runs must not fill the memory
_PATH = re.compile(r"(?<![\w:/.}*])/(?:[\w.+@%-]+/)*[\w.+@%-]+")
_PATH_DEPTH = 4
_SYSTEM_PATH = re.compile(r"/(?:dev|proc|sys|usr|bin|sbin|lib\w*|etc|run|var|opt|boot|iosonde-[\w-]+)(?:/|$)")
_NUMBERED_WORD = re.compile(rf"(?i)(?<![\w./%+-]){NUMBERED_THING}[a-z][a-z_-]+\d[\w-]*(?![\w=(]|\.\d)")
_LONG_WORD = re.compile(r"(?<![\w/+.-])[A-Za-z0-9+_-]{16,}={0,2}(?![\w/+])")
_DOTTED = re.compile(r"(?<![\w@/.%-])[A-Za-z][\w-]*(?:\.[A-Za-z][\w-]*){2,}(?![\w/(]|\.\w)")
_IN_SENTENCE = re.compile(
    r"(?i)\b(?:on|from|by|for|of|at|host|node|server|client|user|called|named|ask|asked|told|tell|with|in|via|and)\s+"
    r"[\"'(]?(?P<word>[a-z][\w-]{2,})"
)
_CAPITAL = re.compile(r"(?<=[a-z\d,;.] )(?P<word>[A-Z][a-z]+[\w-]*)(?=[,;.]? [a-z]|[,;.]?$)")
_COMMON = HARMLESS | frozenset(
    re.findall(
        r"\S+",
        """about above added after again all almost also always another any are away back bad been before begin begun
        behind below best better between big both broken but cache caches call called can case change changed changes
        clean close cluster cold come command compile config core cores cpu data date day days default did different
        disk disks do does done down each end ended error even every experiment failed failure fast faster file files
        first fix found four full gave get give go going good had half has have here high home hour hours how idle
        image into iteration iterations its job jobs just kernel kept large last later least left less level like line
        link load long look looks low lower machine made maintenance make many mark master measured memory metadata
        minute minutes missing mode more morning most mount much network new night nightly none nothing now number
        odd off often old once one only open operation operations option options other our out output over own page
        part pass path paths phase point process processes program public quick random rank ranks rate raw ready reboot
        rebooted record records replaced release repeat repetition reset result right row rows run running runs same
        second seconds see seen sequential series setting settings several shared should show since slow slower small
        some started state step still stop stopped storage store stored such switch system table tag tags take task
        tasks test tested than that their them then there these they things third this those three threads three time
        times today tool total trial trials two under unit until update updated upgrade use used using value values
        very wait warm was week weeks well were what when where whether which while who whole whose why will with
        without work workload year yes yesterday you your zero average baseline bandwidth block blocks bytes
        calls collective count create creation directories directory removal tree latency throughput operations
        offset ops signal pid device kbytes parallel entering ent independent ordering type api access shared-file
        single-shared-file file-per-process netperf strace darshan dd
        iops io mpi posix hdf5 lustre nfs beegfs gpfs ceph gluster glusterfs xfs tmpfs ram memory note november december
        january february march april may june july august september october monday tuesday wednesday thursday friday
        saturday sunday mon tue wed thu fri sat sun""",
    )
)


@dataclass
class Remains:
    """Counters of the remaining words, most frequent first."""

    exempt_words: frozenset[str] = frozenset()  # ids of runs, and names of metrics and operations: no person chose them
    _unsure: Counter[str] = field(default_factory=Counter)
    _paths: Counter[str] = field(default_factory=Counter)
    _names: Counter[str] = field(default_factory=Counter)

    @property
    def unsure(self) -> dict[str, int]:
        """Words that look like the name of a machine or person, or like a token → count."""
        return _sort_counts(self._unsure)

    @property
    def paths(self) -> dict[str, int]:
        """Directories, cut to four components → count."""
        return _sort_counts(self._paths)

    @property
    def names(self) -> dict[str, int]:
        """Tags, names of experiments and files, and text levels of factors → count."""
        return _sort_counts(self._names)

    def read(self, value: Any, key: str = "") -> None:
        """Read every text in ``value``, which has the key ``key``, including keys."""
        for text, under in _iter_texts(value, key):
            if not re.search(r"sha256|digest$", under):
                self._read_text(text)

    def read_sentence(self, text: str) -> None:
        """Read the text of a person or a tool: capitalised words, and those after "on", "by", "ask"."""
        self._read_text(text)
        for pattern in (_IN_SENTENCE, _CAPITAL):
            self._add_words(self._unsure, (match["word"] for match in pattern.finditer(text)))

    def read_names(self, names: Iterable[str]) -> None:
        """Count names given by people."""
        for name in names:
            words = re.findall(r"[\w.-]{3,}", name)
            if name not in self.exempt_words and any(word.lower() not in _COMMON for word in words):
                self._count_word(self._names, name)

    def _read_text(self, text: str) -> None:
        for match in _PATH.finditer(text):
            if match[0].count("/") > 1 and not _SYSTEM_PATH.match(match[0]):
                self._count_word(self._paths, "/".join(match[0].split("/")[: _PATH_DEPTH + 1]))
        for pattern in (_NUMBERED_WORD, _LONG_WORD, _DOTTED):
            self._add_words(self._unsure, (match[0] for match in pattern.finditer(text) if _is_possible_name(match[0])))

    def _add_words(self, counter: Counter[str], words: Iterable[str]) -> None:
        for word in words:
            word = word.rstrip("-_.")
            if word.lower() not in _COMMON and word not in self.exempt_words and not _has_pseudonym(word):
                self._count_word(counter, word)

    @staticmethod
    def _count_word(counter: Counter[str], word: str) -> None:
        if word in counter or len(counter) < _MAX_DIFFERENT:
            counter[word] += 1


def _sort_counts(counter: Counter[str]) -> dict[str, int]:
    return dict(sorted(counter.items(), key=lambda item: (-item[1], item[0])))


def _iter_texts(value: Any, key: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield value, key
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield str(name), ""
            yield from _iter_texts(item, str(name))
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _iter_texts(item, key)


def _is_possible_name(word: str) -> bool:
    """Return whether a word may be a token or a host: not letters alone, and not digits alone."""
    return bool(re.search(r"\d", word) and re.search(r"[A-Za-z]", word)) or "." in word


def _has_pseudonym(word: str) -> bool:
    return is_pseudonym(word.lower()) or re.search(r"(?:host|domain|user|address|secret|name|id)-\d", word) is not None

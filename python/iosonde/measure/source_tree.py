"""A tree of C sources that compile, the same bytes for the same seed: the data of user-level benchmarks.

Sizes are log-normal, as those of real files are (Downey 2001, MASCOTS, 361-370); median and spread are those of
installed C headers. The expected findings of tools are known by construction: entries, bytes, the lines that hold the
needle, and the output of the compiled program.
"""

import hashlib
import math
import random
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from statistics import NormalDist

from iosonde.core.errors import InputError

MEDIAN_BYTES, SIGMA, LARGEST_BYTES = 5000, 1.4, 256 * 2**10
FILES_PER_DIRECTORY = 12
HEADERS, TEXTS = 0.15, 0.05  # shares of the files; the rest is C
NEEDLE = "kangaroo"  # the Andrew benchmark's grep looked for it
NEEDLE_SHARE = 0.01  # of the lines of comments
_MASK = 2**64 - 1
_WORDS = (
    *(
        "the",
        "file",
        "server",
        "block",
        "cache",
        "client",
        "write",
        "reads",
        "lock",
        "inode",
        "state",
        "table",
        "entry",
    ),
    *(
        "when",
        "after",
        "before",
        "each",
        "page",
        "buffer",
        "request",
        "reply",
        "node",
        "lease",
        "token",
        "log",
        "mount",
    ),
    *("record", "commit", "checksum", "stripe", "replica", "volume"),
)
_BUILD = "build.sh"
_POOL = 2048  # different lines of words, and of C, that files are filled with
_FUNCTION = 12  # statements of a function


@dataclass(frozen=True)
class TreeFacts:
    """Properties of a tree. ``entries`` counts all names below the root, ``files`` the regular ones. ``needles`` counts
    the lines with the needle in all files, ``first_needles`` those in files directly in ``first_directory``. ``answer``
    is the program's output.
    """

    files: int
    directories: int
    entries: int
    bytes: int
    needles: int
    first_needles: int
    first_directory: str
    answer: str


class SourceTree:
    """The tree of ``seed`` with about ``files`` files (that many, and the script that compiles them)."""

    def __init__(self, seed: int, files: int) -> None:
        if files < 3:
            raise InputError(
                "too-few-files",
                "cannot compile a source tree of {files} files",
                "use 3 files or more",
                files=files,
            )
        self.seed = seed
        self._headers = max(1, round(files * HEADERS))
        self._texts = round(files * TEXTS)
        self._sources = files - self._headers - self._texts
        draw = self._create_random("lines", 0)
        self._remarks, self._statements = _draw_remarks(draw, _POOL), _draw_statements(draw, _POOL)

    @cached_property
    def contents(self) -> dict[str, bytes]:
        """Return path relative to the root → content, in order of path."""
        files = [*self._generate_headers(), *self._generate_sources(), *self._generate_texts()]
        return dict(sorted([*files, (_BUILD, self._build_script())]))

    @cached_property
    def directories(self) -> list[str]:
        """Return all directories but the root, parents before children."""
        return sorted({str(parent) for path in self.contents for parent in Path(path).parents} - {"."})

    @cached_property
    def facts(self) -> TreeFacts:
        """Return the values that tools must find."""
        first = str(Path(self._source_name(0)).parent)
        needles = {
            path: sum(NEEDLE.encode() in line for line in content.splitlines())
            for path, content in self.contents.items()
        }
        return TreeFacts(
            files=len(self.contents),
            directories=len(self.directories),
            entries=len(self.contents) + len(self.directories),
            bytes=sum(map(len, self.contents.values())),
            needles=sum(needles.values()),
            first_needles=sum(count for path, count in needles.items() if str(Path(path).parent) == first),
            first_directory=first,
            answer=f"{self._compute_answer():016x}",
        )

    @property
    def sums(self) -> str:
        """Return the input of ``sha256sum --check``."""
        return "".join(f"{hashlib.sha256(content).hexdigest()}  {path}\n" for path, content in self.contents.items())

    def write(self, place: Path) -> None:
        """Write ``place``/tree and ``place``/known: one file for each of ``TreeFacts``, ``sums``, and
        ``directories_list``, one path a line.

        Raises InputError if ``place`` exists, OSError if it cannot be written.
        """
        try:
            place.mkdir(parents=True)
        except FileExistsError as error:
            raise InputError("already-exists", "{path} already exists", "name a new directory", path=place) from error
        for name in ("tree", "known", *(f"tree/{name}" for name in self.directories)):
            (place / name).mkdir()
        for name, content in self.contents.items():
            (place / "tree" / name).write_bytes(content)
        fields = asdict(self.facts) | {"sums": self.sums, "directories_list": "\n".join([*self.directories, ""])}
        for name, value in fields.items():
            (place / "known" / name).write_text(str(value))

    def _create_random(self, what: str, number: int) -> random.Random:
        return random.Random(f"{self.seed}/{what}/{number}")

    def _source_name(self, number: int) -> str:
        """Return the path of a source: directories of a dozen, every second of them one level deeper."""
        place = number // FILES_PER_DIRECTORY
        directory = f"d{place // 2:03d}" + (f"/s{place:03d}" if place % 2 else "")
        return f"{directory}/f{number:05d}.c"

    def _generate_headers(self) -> Iterator[tuple[str, bytes]]:
        for number in range(self._headers):
            draw = self._create_random("header", number)
            constants = (f"#define C{number:05d}_{i} {_draw_below(draw, 2**63)}ULL" for i in range(4))
            lines = [f"#ifndef H{number:05d}", f"#define H{number:05d}", *constants]
            yield f"include/h{number:05d}.h", self._fill_lines(lines, ["#endif"], draw)

    def _generate_sources(self) -> Iterator[tuple[str, bytes]]:
        for number in range(self._sources):
            draw = self._create_random("source", number)
            header = number % self._headers
            multiplier, shift = self._draw_constants(number)
            head = [
                f'#include "h{header:05d}.h"',
                f"unsigned long long f{number:05d}(unsigned long long x);",
                f"unsigned long long f{number:05d}(unsigned long long x) {{",
                f"    x = x * {multiplier}ULL + C{header:05d}_{number % 4};",
                f"    return x ^ (x >> {shift});",
                "}",
            ]
            tail = self._build_main() if number == 0 else []
            yield self._source_name(number), self._fill_lines(head, tail, draw, function=f"f{number:05d}")

    def _build_main(self) -> list[str]:
        names = [f"f{number:05d}" for number in range(self._sources)]
        return [
            "#include <stdio.h>",
            *(f"unsigned long long {name}(unsigned long long x);" for name in names),
            "int main(void) {",
            "    unsigned long long x = 1;",
            *(f"    x = {name}(x);" for name in names),
            '    printf("%016llx\\n", x);',
            "    return 0;",
            "}",
        ]

    def _draw_constants(self, number: int) -> tuple[int, int]:
        draw = self._create_random("arithmetic", number)
        return _draw_below(draw, 2**62) * 2 + 1, 1 + _draw_below(draw, 62)

    def _compute_answer(self) -> int:
        """Compute the program's output: each function is x·m + c, then x xor x >> s, in 64 bits."""
        constants = []
        for number in range(self._headers):
            draw = self._create_random("header", number)
            constants.append([_draw_below(draw, 2**63) for _ in range(4)])
        x = 1
        for number in range(self._sources):
            multiplier, shift = self._draw_constants(number)
            x = (x * multiplier + constants[number % self._headers][number % 4]) & _MASK
            x ^= x >> shift
        return x

    def _generate_texts(self) -> Iterator[tuple[str, bytes]]:
        for number in range(self._texts):
            lines = self._fill_lines([f"Chapter {number}"], [], self._create_random("text", number), "")
            yield f"doc/t{number:05d}.txt", lines

    def _fill_lines(
        self, head: list[str], tail: list[str], draw: random.Random, mark: str = "// ", function: str = ""
    ) -> bytes:
        """Return ``head``, lines up to the drawn size, and ``tail``. The lines are words; in a source every other dozen
        is a function."""
        target_size, lines = _draw_size(draw), list(head)
        size = sum(len(line) + 1 for line in (*head, *tail))
        number = 0
        while size < target_size:
            block = [mark + self._remarks[_draw_below(draw, _POOL)] for _ in range(_FUNCTION)]
            if function and number % 2:
                body = [self._statements[_draw_below(draw, _POOL)] for _ in range(_FUNCTION)]
                name = f"{function}_{number}"
                block = [f"unsigned long long {name}(unsigned long long x) {{", *body, "    return x;", "}"]
            lines += block
            size += sum(len(line) + 1 for line in block)
            number += 1
        return "\n".join([*lines, *tail, ""]).encode()

    def _build_script(self) -> bytes:
        names = [self._source_name(number)[:-2] for number in range(self._sources)]
        compile_all = (f"cc -O0 -Iinclude -c {name}.c -o {name}.o" for name in names)
        # The objects by a pattern, not by name: the line would be too long for a shell's argument.
        return "\n".join(["set -e", *compile_all, "find . -name '*.o' >objects", "cc @objects -o program", ""]).encode()


def _draw_below(draw: random.Random, end: int) -> int:
    """Draw uniformly below ``end``. Only ``random()`` is guaranteed to stay the same over versions of Python."""
    return int(draw.random() * 2**32) * end >> 32


def _draw_size(draw: random.Random) -> int:
    deviate = NormalDist().inv_cdf(min(max(draw.random(), 1e-9), 1 - 1e-9))
    return min(LARGEST_BYTES, round(MEDIAN_BYTES * math.exp(SIGMA * deviate)))


def _draw_remarks(draw: random.Random, count: int) -> list[str]:
    """Draw lines of words; with probability NEEDLE_SHARE the first word is the needle."""
    lines = []
    for _ in range(count):
        words = [_WORDS[_draw_below(draw, len(_WORDS))] for _ in range(4 + _draw_below(draw, 9))]
        lines.append(" ".join([NEEDLE, *words[1:]] if draw.random() < NEEDLE_SHARE else words))
    return lines


def _draw_statements(draw: random.Random, count: int) -> list[str]:
    return [
        f"    x {'+-^'[_draw_below(draw, 3)]}= (x << {1 + _draw_below(draw, 60)}) ^ {_draw_below(draw, 2**31)}ULL;"
        for _ in range(count)
    ]

"""Tools that a shell command runs, and their options, as far as its text shows."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from iosonde.core.programs import LAUNCHERS, WRAPPERS, list_programs

from . import TOOLS
from .io500 import INI_KEYS
from .launchers import find_launcher_options
from .tool import ToolOption, Vocabulary

_SECTION = re.compile(r"(?:^|[\s'\"])\[([^\]\n]+)\]\s*$")
_KEY = re.compile(r"\s*(?P<key>[A-Za-z][\w-]*)\s*=\s*(?P<value>[^\s#;'\"\\]+)['\"]?\s*")


@dataclass(frozen=True)
class ToolCall:
    """A call of a tool: its words, and the words before it, as of a launcher, in the same simple command."""

    tool: Vocabulary
    words: tuple[str, ...]
    before: tuple[str, ...] = ()

    @property
    def is_plain(self) -> bool:
        """Return whether only a launcher, or what runs another program, precedes the tool."""
        first = self.before[0].rpartition("/")[2].partition(".")[0] if self.before else ""
        return not first or first in (*LAUNCHERS, *WRAPPERS)

    def list_options(self) -> Iterator[tuple[ToolOption, str]]:
        """Yield each known option with its value, first those of the launcher."""
        for tool, words in ((self._find_launcher(), self.before[1:]), (self.tool, self.words)):
            for word in tool.split(words) if tool else ():
                if word.option is not None and word.value is not None:
                    yield word.option, word.value

    def _find_launcher(self) -> Vocabulary | None:
        return find_launcher_options(self.before[0].rpartition("/")[2]) if self.before else None


def list_tool_calls(command: str) -> list[ToolCall]:
    """List the calls of known tools in a command, also by a launcher or another program."""
    calls = []
    for program in list_programs(command):
        words = (program.word, *program.words)
        names = [word.rpartition("/")[2] for word in words]
        if at := next((place for place, name in enumerate(names, 1) if name in TOOLS), 0):
            calls.append(ToolCall(TOOLS[names[at - 1]], words[at:], words[: at - 1]))
    return calls


def list_file_options(text: str) -> Iterator[tuple[ToolOption, str]]:
    """Yield each known option of a job file of fio, or of an ini file of IO500, that a text holds, with its value."""
    section = ""
    for line in text.replace("\\n", "\n").splitlines():
        if match := _SECTION.search(line):
            section = match[1].strip()
        elif section and (match := _KEY.fullmatch(line)):
            keys = INI_KEYS.get(section)
            options = TOOLS["fio"].options if keys is None else keys
            option = next((option for option in options if match["key"] in option.names), None)
            if option is not None:
                yield option, match["value"]

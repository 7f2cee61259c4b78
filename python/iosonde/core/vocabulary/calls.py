"""Tools that a shell command runs, and their options, as far as its text shows."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from iosonde.core.programs import LAUNCHERS, WRAPPERS, Program, list_programs

from . import TOOLS
from .io500 import INI_KEYS
from .launchers import find_launcher_options
from .tool import ToolOption, Vocabulary

_SECTION = re.compile(r"(?:^|[\s'\"])\[([^\[\]\n]+)\]\s*$")
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
        return not self.before or get_program_name(self.before[0]) in (*LAUNCHERS, *WRAPPERS)

    @property
    def launcher(self) -> tuple[str, ...]:
        """The launcher before the tool with its words; empty without one."""
        names = [get_program_name(word) for word in self.before]
        place = next((place for place, name in enumerate(names) if name in LAUNCHERS), len(names))
        return self.before[place:]

    def list_options(self) -> Iterator[tuple[ToolOption, str]]:
        """Yield each known option with its value, first those of the launcher."""
        launcher = self.launcher
        starter = find_launcher_options(get_program_name(launcher[0])) if launcher else None
        for tool, words in ((starter, launcher[1:]), (self.tool, self.words)):
            for word in tool.split(words) if tool else ():
                if word.option is not None and word.value is not None:
                    yield word.option, word.value

    def count_processes(self) -> int | None:
        """Count the processes that are started: one without a launcher, None if its options leave it open."""
        launcher = self.launcher
        if not launcher:
            return 1
        tool = find_launcher_options(get_program_name(launcher[0]))
        texts = [tool and tool.find_value(launcher[1:], name) for name in ("ranks", "nodes", "ranks_per_node")]
        ranks, nodes, per_node = (int(text) if text and text.isdigit() else None for text in texts)
        return ranks or (nodes * per_node if nodes and per_node else None)


def get_program_name(word: str) -> str:
    """Return the name of a program without its directory and its family: ``/opt/bin/mpiexec.hydra`` is ``mpiexec``."""
    return word.rpartition("/")[2].partition(".")[0]


def find_tool_call(program: Program) -> ToolCall | None:
    """Return the call of a known tool that a program is, or starts."""
    words = (program.word, *program.words)
    for place, word in enumerate(words):
        if tool := TOOLS.get(word.rpartition("/")[2]):
            return ToolCall(tool, words[place + 1 :], words[:place])
    return None


def list_tool_calls(command: str) -> list[ToolCall]:
    """List the calls of known tools in a command, also by a launcher or another program."""
    return [call for program in list_programs(command) if (call := find_tool_call(program))]


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

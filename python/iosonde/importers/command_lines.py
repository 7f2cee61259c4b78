"""Command lines above outputs, as people paste both: a prompt and the command, or the command alone.

    [root@node ~]# time dd if=/dev/zero of=file bs=1M oflag=direct

An output is that of the nearest command above it. It must call the output's tool once, and no other prompt may stand
between the two.
"""

import re
from bisect import bisect
from typing import NamedTuple

from iosonde.core.programs import list_programs

from .reading import Lines
from .text import Text

# Longer texts are logs, and no pastes.
_MOST_CHARACTERS = 16 << 20
_MOST_LINES = 100  # of one command
# What a shell prints before a command: `$`, `#`, `bash-4.4$`, `/data #`, `user@host:~$`, `(venv) [root@host ~]#`, and
# `+` of `set -x`.
_PROMPT = re.compile(
    r"\s*(?:(?:\([\w.-]{1,40}\) ?)?(?:\[[^\]\n]{1,80}\]|[\w.@:~/+-]{1,100}(?: [\w.~/-]{1,80})?)? ?[$#%>]\s+|\++ )?"
)
# Those that no output has at the begin of a line.
_SURE_PROMPT = re.compile(
    r"(?:\([\w.-]{1,40}\) ?)?(?:\[[^\]\n@]{1,40}@[^\]\n]{1,80}\][$#]|[\w.-]{1,40}@[\w.-]{1,60}[: ][^\n$#]{0,80}[$#]"
    r"|(?:/[\w./-]*|~) [$#]|\w{0,3}sh-[\d.]+[$#]|\$)\s+\S"
)
# A line without a prompt that is a command: the tool comes first, and has an option.
_BARE = r"(?:(?:sudo|time|nohup|exec) +)*(?:\S*/)?{program} +(?:.* )?(?:--?\w|\w+=)"


class CommandLine(NamedTuple):
    """A command, its last line, and the words behind the tool's name; None if it does not call the tool once."""

    text: str
    line: int
    words: tuple[str, ...] | None


class CommandLines:
    """The command lines of a text that call one tool."""

    def __init__(self, text: Text, program: str) -> None:
        self._text, self._program = text, program
        self._bare = re.compile(_BARE.format(program=re.escape(program)))
        self._commands = self._find_commands() if len(text.content) <= _MOST_CHARACTERS else []
        self._prompts = self._list_prompts() if self._commands else []

    def find_above(self, line: int) -> CommandLine | None:
        """Return the command whose output stands in ``line``, None if there is none."""
        place = bisect(self._commands, line - 1, key=lambda command: command.line) - 1
        command = self._commands[place] if place >= 0 else None
        if command is None or command.words is None:
            return None
        next_prompt = bisect(self._prompts, command.line)
        is_other = next_prompt < len(self._prompts) and self._prompts[next_prompt] < line
        return None if is_other else command

    def _find_commands(self) -> list[CommandLine]:
        content, lines, commands = self._text.content, Lines(self._text), list[CommandLine]()
        at = content.find(f"{self._program} ")
        while at >= 0:
            begin, number = content.rfind("\n", 0, at) + 1, lines.at(at)
            end = content.find("\n", at)
            if command := self._read_command(content[begin : end if end >= 0 else len(content)], number):
                commands.append(command)
            at = content.find(f"{self._program} ", end) if end >= 0 else -1
        return commands

    def _read_command(self, line: str, number: int) -> CommandLine | None:
        prompt = _PROMPT.match(line)
        text = line[prompt.end() :] if prompt else line
        if not (prompt and prompt.group().strip()) and not self._bare.match(text):
            return None
        while text.endswith("\\") and number < len(self._text.lines) and text.count("\\\n") < _MOST_LINES:
            text = f"{text}\n{self._text.lines[number]}"
            number += 1
        calls = list_calls(text, self._program)
        if not calls:
            return None
        return CommandLine(text.replace("\\\n", " ").strip(), number, calls[0] if len(calls) == 1 else None)

    def _list_prompts(self) -> list[int]:
        marked = ((at, line) for at, line in self._text.numbered() if "$ " in line or "# " in line)
        return [at for at, line in marked if _SURE_PROMPT.match(line)]


def list_calls(command: str, program: str) -> list[tuple[str, ...]]:
    """List the words behind the name of ``program`` of each of its calls in a command, also by another program."""
    programs = [(part.word, *part.words) for part in list_programs(command)]
    places = [[word.rpartition("/")[2] for word in words] for words in programs]
    return [
        words[names.index(program) + 1 :] for words, names in zip(programs, places, strict=True) if program in names
    ]

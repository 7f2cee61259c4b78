"""A tree of files that may hang: only a child process accesses it, which can be abandoned."""

import os
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from iosonde.core.errors import InputError
from iosonde.core.message import Message, restore_message
from iosonde.core.words import format_count
from iosonde.foreign.child import LIMIT_S, Child, NoAnswerError, OnWait

from .contents import Contents, LookOptions
from .lookup import STATUS, StatusTable
from .opening import HUNG, NOT_TRIED, WalkedFile
from .transfer import array_from_text, contents_from_rows, files_to_rows, name_to_text, walked_from_json
from .walk import Walked, WalkOptions

OnCount = Callable[[int], object]
HINT = "check its server and the network; hanging processes end when they answer again"
_FILES_A_CALL = 2048
_MAX_HANGS = 3  # listed files that do not answer; the others are counted


def _add_done(on_done: OnCount, before: int, done: int) -> None:
    on_done(before + done)


def resolve_tree_path(path: Path, limit_s: float = LIMIT_S) -> Path:
    """Return the absolute path without links. Raises NoAnswerError."""
    with closing(Child("iosonde.survey.work", limit_s)) as child:
        return Path(child.call("resolve", str(path), f"finding {path}", path=os.path.abspath(path)))


class SurveyedTree:
    """An open tree, inside ``with``. ``limit_s``: time limit of a call to it; ``on_wait`` receives the current
    operation and its waiting time.

    ``resolved``: its absolute path without links; ``device``: device number of its root; ``is_readable``; ``inodes``:
    inodes in use on its file system, None if unknown.
    """

    def __init__(self, path: str, limit_s: float = LIMIT_S, on_wait: OnWait | None = None) -> None:
        self.path, self.limit_s = path, limit_s
        self._on_wait = on_wait
        self._on_count: OnCount | None = None
        self._hangs: list[tuple[bytes, float, float]] = []
        self._child = Child("iosonde.survey.work", limit_s, self._report_wait, self._report_sign)
        self._is_opening = True

    def __enter__(self) -> Self:
        try:
            absolute = os.path.abspath(self.path)
            facts = self._child.call("hold", self.path, f"opening {self.path}", path=absolute, user_path=self.path)
        except OSError as error:  # the working directory was removed
            raise InputError(
                "unreadable-directory",
                "{path}: {reason}",
                "give a readable directory",
                path=self.path,
                reason=error.strerror,
            ) from error
        except BaseException:
            self._child.close()
            raise
        self._is_opening = False
        self.resolved, self.device = facts["resolved"], facts["device"]
        self.is_readable, self.inodes = facts["readable"], facts["inodes"]
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._child.close()

    def walk(self, options: WalkOptions, on_files: OnCount | None = None) -> Walked:
        """See ``survey.walk``. Raises InputError; NoAnswerError if it does not finish."""
        answer = self._ask_child("walk", f"walking {self.path}", on_files, limit_s=self.limit_s, **asdict(options))
        if "stalled" in answer:
            raise self._stall_error(answer, answer["files"])
        return walked_from_json(answer["walked"])

    def look_up(self, names: Sequence[bytes], before: int = 0) -> StatusTable:
        """See ``survey.lookup``; ``before``: how many files were looked up already. Raises NoAnswerError."""
        texts = list(map(name_to_text, names))
        answer = self._ask_child("look_up", f"looking up files in {self.path}", None, names=texts, limit_s=self.limit_s)
        if "stalled" in answer:
            raise self._stall_error(answer, before)
        return array_from_text(answer["status"], STATUS)

    def look_at_all(
        self,
        files: Sequence[WalkedFile],
        options: LookOptions,
        on_done: OnCount | None = None,
        seconds: float | None = None,
    ) -> list[Contents]:
        """See ``survey.readers``: files that do not answer are marked, and ``hangs`` lists them. ``seconds``: remaining
        reading time."""
        began, contents = time.monotonic(), list[Contents]()
        for at in range(0, len(files), _FILES_A_CALL):
            if any(content.why == NOT_TRIED for content in contents):
                break
            some = files[at : at + _FILES_A_CALL]
            rows = self._ask_child(
                "look",
                f"reading files in {self.path}",
                on_done and partial(_add_done, on_done, at),
                files=files_to_rows(some),
                codecs=list(options.codecs),
                seed=options.seed,
                every_piece=options.every_piece,
                limit_s=self.limit_s,
                seconds=seconds and max(0.0, seconds - (time.monotonic() - began)),
            )
            looked, now = contents_from_rows(rows), time.time()
            self._hangs += [
                (file.path, now - content.hung_s, content.hung_s)
                for file, content in zip(some, looked, strict=True)
                if content.why == HUNG
            ]
            contents += looked
        return contents + [Contents(None, why=NOT_TRIED)] * (len(files) - len(contents))

    def hangs(self) -> tuple[str, ...]:
        """Return a sentence for each hang; after the tree was closed also the process that still hangs."""
        sentences = [
            self._describe_hang(path, since, hung_s, "reading it") for path, since, hung_s in self._hangs[:_MAX_HANGS]
        ]
        if len(self._hangs) > _MAX_HANGS:
            files = format_count(len(self._hangs) - _MAX_HANGS, "file")
            sentences.append(Message("more-hangs", "and {files} more", files=files))
        if sentences and self._child.stuck_pids:
            sentences[-1] = restore_message(
                sentences[-1].code, sentences[-1] + self._describe_stuck_process(), sentences[-1].values
            )
        return tuple(sentences)

    def _ask_child(self, operation: str, what: str, on_count: OnCount | None, **arguments: Any) -> Any:
        self._on_count = on_count
        try:
            return self._child.call(operation, self.path, what, **arguments)
        finally:
            self._on_count = None

    def _report_wait(self, what: str, waited_s: float) -> None:
        if self._is_opening and self._on_wait:  # longer operations report their own waits
            self._on_wait(what, waited_s)

    def _report_sign(self, sign: dict[str, Any]) -> None:
        if self._on_count:
            self._on_count(sign["done"])
        if self._on_wait and sign["waited_s"]:
            self._on_wait(f"looking at {self._join_path(sign['path'])}", sign["waited_s"])

    def _stall_error(self, answer: dict[str, Any], files: int) -> NoAnswerError:
        self._child.close()
        hang = self._describe_hang(answer["stalled"], time.time() - answer["hung_s"], answer["hung_s"], "looking at it")
        return NoAnswerError(
            "no-response",
            "{hang}{leftovers}; {files} had been counted, the rest is unknown",
            HINT,
            hang=hang,
            leftovers=self._describe_stuck_process(),
            files=format_count(files, "file"),
            **hang.values,
        )

    def _describe_hang(self, path: str | bytes, since: float, hung_s: float, what: str) -> Message:
        return Message(
            "no-response",
            "{path} does not answer: {operation} has been hanging since {since} ({seconds:.0f} s)",
            path=self._join_path(path),
            operation=what,
            since=time.strftime("%H:%M:%S", time.localtime(since)),
            seconds=hung_s,
        )

    def _describe_stuck_process(self) -> str:
        pids = self._child.stuck_pids
        return f"; process {pids[-1]} hangs in the kernel and is left behind" if pids else ""

    def _join_path(self, path: str | bytes) -> str:
        path = name_to_text(path) if isinstance(path, bytes) else path
        return os.path.join(self.path, path) if path else self.path

"""A cache of answers of commands, so that a page with many of them computes none.

They lie beside the index, one JSON file each, and may be removed at any time. A key names the answer and the state of
the runs that it is about. A missing answer is computed in the background, one at a time.
"""

import hashlib
import json
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any

from iosonde.core.errors import IosondeError
from iosonde.core.version import __version__

PROBLEM = "problem"  # the only key of an answer that could not be computed
_MAX_ANSWERS = 2000  # in memory
_MAX_FILES = 20_000

Document = dict[str, Any]


class AnswerCache:
    """Answers by key. ``folder`` keeps them over restarts; None keeps them in memory alone."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._answers: OrderedDict[str, Future[Document]] = OrderedDict()
        self._lock = threading.Lock()
        self._turn = threading.Lock()

    def get(self, key: Sequence[str], compute: Callable[[], Document], deadline: float) -> Document | None:
        """Return an answer, or None if it is not computed by ``deadline`` (of ``time.monotonic``).

        ``compute`` returns a document of JSON. If it raises an IosondeError, the answer holds only PROBLEM."""
        name = hashlib.sha256(json.dumps([__version__, *key]).encode()).hexdigest()
        with self._lock:
            answer = self._answers.get(name)
            if answer is None:
                answer = self._start(name, compute)
            self._answers.move_to_end(name)
            while len(self._answers) > _MAX_ANSWERS:
                self._answers.popitem(last=False)
        with suppress(TimeoutError):
            return answer.result(max(0.0, deadline - time.monotonic()))
        return None

    def _start(self, name: str, compute: Callable[[], Document]) -> "Future[Document]":
        answer = self._answers[name] = Future[Document]()
        document = self._read(name)
        if document is not None:
            answer.set_result(document)
        else:
            threading.Thread(target=self._compute, args=(name, answer, compute), daemon=True).start()
        return answer

    def _compute(self, name: str, answer: "Future[Document]", compute: Callable[[], Document]) -> None:
        with self._turn:
            try:
                document = compute()
            except IosondeError as error:
                answer.set_result({PROBLEM: error.message})
                return
            except BaseException as error:
                with self._lock:
                    self._answers.pop(name, None)
                answer.set_exception(error)
                return
        self._write(name, document)
        answer.set_result(document)

    def _read(self, name: str) -> Document | None:
        if self._folder is None:
            return None
        try:
            document = json.loads((self._folder / f"{name}.json").read_bytes())
        except (OSError, ValueError):
            return None
        return document if isinstance(document, dict) else None

    def _write(self, name: str, document: Document) -> None:
        """Keep an answer; a full disk costs only the time to compute it again."""
        if self._folder is None:
            return
        with suppress(OSError):
            self._folder.mkdir(mode=0o700, exist_ok=True)
            temporary = self._folder / f".{name}-{os.getpid()}"
            temporary.write_bytes(json.dumps(document).encode())
            temporary.replace(self._folder / f"{name}.json")
            self._drop_oldest()

    def _drop_oldest(self) -> None:
        assert self._folder is not None
        files = list(self._folder.glob("*.json"))
        if len(files) > _MAX_FILES:
            for path in sorted(files, key=lambda path: path.stat().st_mtime)[: _MAX_FILES // 10]:
                path.unlink(missing_ok=True)

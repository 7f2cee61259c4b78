"""The one exception tree. Every error says where and what, and carries a hint: what to do about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from .message import Message, restore

# What a command's exit code says. Besides these it is 0, done, and 130, interrupted (``cli/main.py``).
PROBLEM_DETECTED, WRONG_INPUT, FAULT = 1, 2, 3


class IosondeError(Exception):
    """Base of all errors that a user may see: what is wrong, and a hint what to do about it.

    ``code``: stable, as ``unknown-experiment``; ``values``: what the sentences name. ``message`` says where (file,
    line, column or key) and what; ``hint`` says what to do: templates, filled with the values (``message.py``). The
    command line prints them and exits with ``exit_code``, never with a traceback. If there is more than one thing
    to say, each has a line in ``details``.
    """

    exit_code = FAULT
    details: tuple[str, ...] = ()

    def __init__(self, code: str, message: str, hint: str = "", /, **values: object) -> None:
        self._set_texts(Message(code, message, **values), Message(code, hint, **values) if hint else "")

    def _set_texts(self, message: Message, hint: str) -> None:
        super().__init__(message)
        self.message, self.hint = message, hint
        if hint:
            self.add_note(f"hint: {hint}")  # below the message wherever Python shows the exception

    @property
    def code(self) -> str:
        """What is wrong, as a stable word."""
        return self.message.code

    @property
    def values(self) -> Mapping[str, object]:
        """What message and hint name."""
        return self.message.values

    def with_words(self, message: Message, hint: str | None = None) -> Self:
        """Return an error of the same kind with other sentences; the hint stays if there is no other."""
        error = type(self).__new__(type(self))
        error.__dict__.update({name: value for name, value in vars(self).items() if name != "__notes__"})
        error._set_texts(message, self.hint if hint is None else hint)
        return error

    def to_json(self) -> dict[str, Any]:
        """What another process makes the same error of (``error_from_json``): values become text, and the kind is the
        nearest of this module."""
        return {
            "kind": next(kind.__name__ for kind in type(self).__mro__ if kind.__module__ == __name__),
            "code": self.code,
            "message": str(self.message),
            "hint": str(self.hint),
            "values": {name: str(value) for name, value in self.values.items()},
            "details": list(self.details),
        }

    def prefixed(self, place: str) -> Self:
        """Return the same error with the place it is about before its message."""
        return self.with_words(self.message.prefixed(place))

    def __reduce__(self) -> tuple[Any, ...]:
        state = {name: value for name, value in vars(self).items() if name not in ("__notes__", "message", "hint")}
        return _restore_error, (type(self), self.message, self.hint), state


def _restore_error(kind: type[IosondeError], message: Message, hint: str) -> IosondeError:
    error = kind.__new__(kind)
    error._set_texts(message, hint)
    return error


class InputError(IosondeError):
    """What the user gave is wrong: an option, a file, a target."""

    exit_code = WRONG_INPUT


class TargetError(InputError):
    """The target directory cannot be measured: absent, not writable, too small, not ours to write."""


class DataError(InputError):
    """A table or store cannot be read as what it claims to be."""


class UnknownFormatError(DataError):
    """Nobody here recognises what a text is."""


class SchemaTooNewError(DataError):
    """A store or a file was written by a newer iosonde than this one."""


class SystemFaultError(IosondeError):
    """Something failed under us: MPI, a tool, the disk."""


class TargetFaultError(SystemFaultError):
    """The target failed while it was used: its server is gone, it does not answer, somebody changed it under us."""


class LaunchError(SystemFaultError):
    """The ranks could not be started, or did not come up as asked for."""


class IncompleteError(IosondeError):
    """The command finished, and found that what it looked at is incomplete."""

    exit_code = PROBLEM_DETECTED


class IosondeWarning(UserWarning):
    """What a Python caller should know before believing an answer: the command line says it on stderr."""

    @property
    def code(self) -> str:
        """What it warns of, as a stable word; '' where it has none."""
        return self.args[0].code if isinstance(self.args[0], Message) else ""

    @property
    def values(self) -> Mapping[str, object]:
        """What the sentence names."""
        return self.args[0].values if isinstance(self.args[0], Message) else {}


def error_from_json(error: Mapping[str, Any]) -> IosondeError:
    """The error that another process raised (``IosondeError.to_json``); of a kind that is not of this module, as a
    newer iosonde may have, a SystemFaultError."""
    kind = globals().get(error["kind"])
    if not (isinstance(kind, type) and issubclass(kind, IosondeError)):
        kind = SystemFaultError
    again = _restore_error(kind, restore(error["code"], error["message"], error["values"]), error["hint"])
    again.details = tuple(error.get("details", ()))
    return again

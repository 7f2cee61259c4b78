"""The exception tree. Every error states the place and the problem, and has a hint."""

from collections.abc import Mapping
from typing import Any, Self

from .message import Message, restore_message

# Exit codes of commands. Others are 0, done, and 130, interrupted (``cli/main.py``).
PROBLEM_DETECTED, WRONG_INPUT, FAULT = 1, 2, 3
# A gate without an answer: ``git bisect run`` skips the commit.
UNTRIED = 125


class IosondeError(Exception):
    """Base of all errors that a user may see.

    ``code`` is stable, such as ``unknown-experiment``; ``values`` are those in the texts. ``message`` states the place
    (file, line, column or key) and the problem, ``hint`` the remedy. Both are templates, filled with the values
    (``message.py``). The command line prints them and exits with ``exit_code``, never with a traceback. Several
    problems have a line each in ``details``.
    """

    exit_code = FAULT
    details: tuple[str, ...] = ()

    def __init__(self, code: str, message: str, hint: str = "", /, **values: object) -> None:
        self._set_texts(Message(code, message, **values), Message(code, hint, **values) if hint else "")

    def _set_texts(self, message: Message, hint: str) -> None:
        super().__init__(message)
        self.message, self.hint = message, hint
        if hint:
            self.add_note(f"hint: {hint}")  # Python shows notes below the message

    @property
    def code(self) -> str:
        """Stable code of the error."""
        return self.message.code

    @property
    def values(self) -> Mapping[str, object]:
        """Values in the message and the hint."""
        return self.message.values

    def with_words(self, message: Message, hint: str | None = None) -> Self:
        """Return an error of the same kind with another message; the hint stays unless ``hint`` replaces it."""
        error = type(self).__new__(type(self))
        error.__dict__.update({name: value for name, value in vars(self).items() if name != "__notes__"})
        error._set_texts(message, self.hint if hint is None else hint)
        return error

    def to_json(self) -> dict[str, Any]:
        """Serialise for another process (``error_from_json``). Values become text; the kind is the nearest class of
        this module."""
        return {
            "kind": next(kind.__name__ for kind in type(self).__mro__ if kind.__module__ == __name__),
            "code": self.code,
            "message": str(self.message),
            "hint": str(self.hint),
            "values": {name: str(value) for name, value in self.values.items()},
            "details": list(self.details),
        }

    def prefixed(self, place: str) -> Self:
        """Return the same error with ``place`` prepended to its message."""
        return self.with_words(self.message.prefixed(place))

    def __reduce__(self) -> tuple[Any, ...]:
        state = {name: value for name, value in vars(self).items() if name not in ("__notes__", "message", "hint")}
        return _restore_error, (type(self), self.message, self.hint), state


def _restore_error(kind: type[IosondeError], message: Message, hint: str) -> IosondeError:
    error = kind.__new__(kind)
    error._set_texts(message, hint)
    return error


class InputError(IosondeError):
    """Invalid input from the user: an option, a file, a target."""

    exit_code = WRONG_INPUT


class PartialInputError(InputError):
    """A part of the input could not be used. The rest was, so that Python's caller gets a warning with the answer."""


class TargetError(InputError):
    """The target directory cannot be measured: missing, not writable, too small, or not owned by iosonde."""


class DataError(InputError):
    """A table or store is not in the format that it claims to have."""


class UnknownFormatError(DataError):
    """No reader recognises the format of a text."""


class SchemaTooNewError(DataError):
    """A store or file was written by a newer iosonde."""


class SystemFaultError(IosondeError):
    """A failure of the system: MPI, a tool, the disk."""


class TargetFaultError(SystemFaultError):
    """The target failed during use: its server is gone, it does not answer, or another process changed it."""


class LaunchError(SystemFaultError):
    """The ranks could not be started, or did not start as requested."""


class IncompleteError(IosondeError):
    """The command finished and found its subject incomplete."""

    exit_code = PROBLEM_DETECTED


class UntriedError(IncompleteError):
    """A gate has no answer, because a side could not be measured."""

    exit_code = UNTRIED


class IosondeWarning(UserWarning):
    """A warning for Python callers; the command line prints it on stderr."""

    @property
    def code(self) -> str:
        """Stable code of the warning; '' if it has none."""
        return self.args[0].code if isinstance(self.args[0], Message) else ""

    @property
    def values(self) -> Mapping[str, object]:
        """Values in the warning."""
        return self.args[0].values if isinstance(self.args[0], Message) else {}


def error_from_json(error: Mapping[str, Any]) -> IosondeError:
    """Rebuild the error that another process raised (``IosondeError.to_json``). An unknown kind, as from a newer
    iosonde, becomes a SystemFaultError."""
    kind = globals().get(error["kind"])
    if not (isinstance(kind, type) and issubclass(kind, IosondeError)):
        kind = SystemFaultError
    again = _restore_error(kind, restore_message(error["code"], error["message"], error["values"]), error["hint"])
    again.details = tuple(error.get("details", ()))
    return again

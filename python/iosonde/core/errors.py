"""The one exception tree. Every error says where and what, and carries a hint: what to do about it."""

from __future__ import annotations

# What a command's exit code says. Besides these it is 0, done, and 130, interrupted (``cli/main.py``).
PROBLEM_FOUND, WRONG_INPUT, FAULT = 1, 2, 3


class IosondeError(Exception):
    """Base of all errors that a user may see: one sentence, and a hint.

    ``message`` says where (file, line, column or key) and what; ``hint`` says what to do.
    The command line prints both and exits with ``exit_code``, never with a traceback. Where there is more than
    one thing to say, each has a line in ``details``.
    """

    exit_code = FAULT
    details: tuple[str, ...] = ()

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        if hint:
            self.add_note(f"hint: {hint}")  # below the message wherever Python shows the exception


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

    exit_code = PROBLEM_FOUND


class IosondeWarning(UserWarning):
    """What a Python caller should know before believing an answer: the command line says it on stderr."""

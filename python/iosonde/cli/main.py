"""Entry point of ``iosonde``: whatever ends it early, also while it is being loaded, ends it with one sentence.

Nothing of ours, and no library, is imported before ``main`` is called: an interrupt may come at any moment. One that
comes before ends the process by the signal (``iosonde/__init__.py``). While Python itself starts it prints a traceback
of its own, which nothing of ours can prevent.
"""

import gc
import os
import signal
import sys


def main() -> None:
    """Exit codes: 0 done, 1 a problem was found, 2 the input is wrong, 3 something failed under us, 125 a gate has no
    answer, 130 interrupted."""
    try:
        # While this is loaded an interrupt ends the process by the signal: Python 3.11 turns one that comes while a
        # class is made into a RuntimeError.
        from iosonde.cli.group import run_command_line

        if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:  # set by the package while it was loaded
            signal.signal(signal.SIGINT, signal.default_int_handler)
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, signal.default_int_handler)  # an interrupt: what was begun is cleaned up
        _open_closed_streams()
        # A command builds much and ends soon: to look for cycles every 700 objects is a tenth of what a page costs.
        gc.set_threshold(100_000, 50, 50)
        code = run_command_line()
        gc.freeze()  # to look for cycles once more at the end, in all that was loaded, is a seventh of a summary
        _ignore_interrupts()  # all is said: while it ends, Python would let it die of the signal without a word
    except (KeyboardInterrupt, RuntimeError) as error:
        if isinstance(error, RuntimeError) and not isinstance(error.__cause__, KeyboardInterrupt):
            raise
        _ignore_interrupts()  # whoever presses twice wants no traceback of the second
        code = 130
        _print_error("interrupted")
    except (ImportError, MemoryError) as error:
        # A library is loaded when it is first needed, which may be late.
        code = 3
        _print_error(
            f"iosonde: {_format_library_error(error)}\n"
            "hint: is the memory limited (ulimit -v)? else install iosonde again"
        )
    sys.exit(code)


def _ignore_interrupts() -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


def _open_closed_streams() -> None:
    """Open the standard streams that the shell closed (``2>&-``): what is said there goes nowhere.

    Else the next file that is opened gets its number, and whoever writes to number 2 writes into that.
    """
    for number, mode, name in ((0, "r", "stdin"), (1, "w", "stdout"), (2, "w", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free: this one
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, closefd=False))  # noqa: SIM115


def _format_library_error(error: BaseException) -> str:
    if isinstance(error, MemoryError):
        return "there is not enough memory"
    line = (str(error).splitlines() or [type(error).__name__])[0]
    return f"a library cannot be loaded: {line.encode('unicode_escape').decode('ascii')}"  # steers no terminal


def _print_error(text: str) -> None:
    if sys.stderr:  # None where the shell closed it (2>&-)
        print(text, file=sys.stderr)


if __name__ == "__main__":
    main()

"""The ``iosonde`` command: finds the subcommand, turns errors into one sentence, a hint and an exit code.

Commands are imported only when they are called, so that ``--help`` stays fast.
"""

import errno
import io
import os
import sys
from collections.abc import Iterable
from typing import Any

import click

from iosonde.commands import find_folder, folder_to_command, get_about, load_abouts
from iosonde.core.errors import FAULT, WRONG_INPUT, IosondeError
from iosonde.core.message import spell_for_terminal, use_spelling
from iosonde.core.version import __version__


def list_command_groups() -> dict[str, dict[str, str]]:
    """Return title → command → its line for --help."""
    groups: dict[str, dict[str, str]] = {}
    for folder, about in load_abouts().items():
        groups.setdefault(about.group, {})[folder_to_command(folder)] = about.brief
    return groups


class _ReaderGoneError(Exception):
    """Who read our output (head, less) went away: that is its right. click would exit with 1, "a problem found"."""


class _LazyGroup(click.Group):
    def invoke(self, ctx: click.Context) -> Any:
        try:
            with use_spelling(spell_for_terminal):
                result = super().invoke(ctx)
            if sys.stdout:  # None where the shell closed it (>&-)
                sys.stdout.flush()
            return result
        except BrokenPipeError as error:
            raise _ReaderGoneError from error

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for commands in list_command_groups().values() for name in commands]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        folder = find_folder(cmd_name)
        if folder is None:
            return None
        if get_about(folder).group != "Measure":
            _limit_blas_threads()
        from iosonde.cli.terminal import build_folder_command

        return build_folder_command(folder)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        groups = list_command_groups()
        widest = max(len(name) for commands in groups.values() for name in commands)
        for title, commands in groups.items():
            with formatter.section(title):
                formatter.write_dl(list(commands.items()), col_spacing=2 + widest - max(map(len, commands)))


@click.command(
    cls=_LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 79},
    epilog="Example: iosonde run --target /mnt/x --nodes 1,2 --store results",
)
@click.version_option(__version__, prog_name="iosonde")
def cli() -> None:
    """Measure a distributed file system, and say how far each number can be trusted."""


def _limit_blas_threads() -> None:
    """Limit the threads of NumPy's BLAS, which reads this when it is loaded, if the user does not say otherwise.

    Threads that share matrices as small as ours wait for each other longer than they work: 0.05 s of CPU before the
    first one. Not where others' programs are started, which get the environment that they would have without us.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def run_command_line() -> int:
    """Run the command line; its exit code. Raises what is no error of ours: KeyboardInterrupt, ImportError."""
    try:
        # Instead of raising Exit, click returns its code.
        return int(cli.main(standalone_mode=False) or 0)
    except _ReaderGoneError:
        _drop_output()
        return 0
    except IosondeError as error:
        _print_error(error.message, error.hint, error.details)
        return error.exit_code
    except click.ClickException as error:
        _show_usage(error)
        return WRONG_INPUT
    except click.Abort as error:  # click's own word for an interrupt
        raise KeyboardInterrupt from error
    except OSError as error:
        _print_error(*_describe_os_error(error))
        _drop_output()
        return WRONG_INPUT if error.errno == errno.ENAMETOOLONG else FAULT


def _drop_output() -> None:
    """Drop what could not be written: at exit the interpreter would complain of it and end with an exit code of its
    own."""
    if sys.stdout:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _show_usage(error: click.ClickException) -> None:
    """click's own words, with what it cites of the command line escaped: ``*`` pastes names of files there."""
    from iosonde.cli.output import print_to_stderr

    buffer = io.StringIO()
    error.show(buffer)
    for line in buffer.getvalue().removesuffix("\n").split("\n"):
        print_to_stderr(line)


def _describe_os_error(error: OSError) -> tuple[str, str]:
    """(message, hint) of an error that nobody below gave words to."""
    if error.filename is None and not _has_working_directory():
        return "the working directory was removed", "change to one that is there"
    if error.errno == errno.ENAMETOOLONG:
        return "a name is too long for this file system", "give a shorter one"
    where = error.filename or "output"
    return f"{where}: {error.strerror or error}", "look at its permissions and the space that is left"


def _has_working_directory() -> bool:
    try:
        os.getcwd()
    except OSError:
        return False
    return True


def _print_error(message: str, hint: str, details: Iterable[str] = ()) -> None:
    from iosonde.cli.output import print_error

    print_error(message, hint, details)

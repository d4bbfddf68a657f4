"""`rosenblatt`: finds and runs commands, and turns errors into messages and exit codes."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from contextlib import contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any

import click

from rosenblatt._version import __version__
from rosenblatt.escaping import printable_lines
from rosenblatt.exceptions import Message, RosenblattError, told_by
from rosenblatt.loops.compilation import announce_compilation
from rosenblatt.registry import able_in_words
from rosenblatt.rooms import find

if TYPE_CHECKING:
    from collections.abc import Iterator

# Set before Arrow is imported: its own allocator does not return freed memory, 40 MB for a hundred columns.
os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")

DONE, NO, BAD, UNDECIDED = 0, 1, 2, 3
INTERRUPTED = 130
READER_LEFT = 141  # as a process that the signal of a broken pipe ends

COMMANDS = {
    "train": "Train a model on files, and save it.",
    "predict": "Predict the labels of files.",
    "explain": "Show what speaks for each prediction.",
    "evaluate": "Measure a model on files, or a learner by cross-validation.",
    "certify": "Decide whether classes are linearly separable, with a proof.",
    "check": "Check a proof against data.",
    "probe": "Train and measure linear probes on embeddings.",
    "trace": "Show every update of a run.",
    "inspect": "Show the contents of a model file.",
    "report": "Write a page about a model and its data.",
    "serve": "Serve models that learn while they predict.",
    "lab": "See the perceptron learn, step by step in the browser.",
    "token": "Make, list and revoke the tokens of a server.",
    "demo": "Run the main commands on built-in data.",
    "compile": "Compile loops ahead of their first use.",
    "completion": "Print the completion script of a shell.",
}

EPILOG = """\b
Start here:
  rosenblatt demo
  rosenblatt train mail.csv -o spam.model
  rosenblatt predict spam.model new.csv
  rosenblatt certify @xor

DATA is a file (CSV, TSV, LIBSVM, Parquet, Arrow, NPY, NPZ, JSON Lines; text also as gzip or zstd), several files,
'-' for standard input, or a built-in set such as @iris. Results go to standard output, and everything else to
standard error.

Exit codes: 0 done · 1 the answer is no · 2 bad usage or input · 3 undecided · 141 the reader of the output left.
"""


class ReaderLeftError(Exception):
    """The reader of our output has left. Click would turn a BrokenPipeError into exit code 1, which means "no"."""


@contextmanager
def _noticing_readers() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError as error:
        raise ReaderLeftError from error


class Commands(click.Group):
    """Commands whose modules are imported when they are called: prediction needs no learner."""

    @_noticing_readers()
    def make_context(self, *arguments: Any, **extra: Any) -> click.Context:
        """Parse arguments, and print help."""
        return super().make_context(*arguments, **extra)

    @_noticing_readers()
    def invoke(self, ctx: click.Context) -> Any:
        """Run a command."""
        return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names, in the order in which people need them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Import and return a command, or None if there is none with this name."""
        if name not in COMMANDS:
            return None
        command: click.Command = getattr(find(f"cli.{name}"), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Return a command; for an unknown name, suggest a similar one."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(args[0], COMMANDS, 1)
            raise click.UsageError(
                f"there is no command {args[0]!r}"
                + (f"; did you mean {near[0]!r}?" if near else f". Use one of {', '.join(COMMANDS)}.")
            )
        return super().resolve_command(ctx, args)


@click.group(
    cls=Commands,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(__version__, prog_name="rosenblatt", message="%(prog)s %(version)s")
def commands() -> None:
    """Train, apply and explain perceptrons; decide with a proof whether data is linearly separable."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command, and return its exit code: see `DONE`, `NO`, `BAD` and `UNDECIDED`."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    debug, quiet = "--debug" in arguments, "--quiet" in arguments or "-q" in arguments
    try:
        with _plain_warnings(quiet=quiet), nullcontext() if quiet else announce_compilation(_say):
            code = commands.main(list(arguments), prog_name="rosenblatt", standalone_mode=False)
            if sys.stdout is not None:
                sys.stdout.flush()
    except (BrokenPipeError, ReaderLeftError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # flushing the rest must not fail at exit
        return READER_LEFT
    except click.exceptions.Exit as stop:
        return int(stop.exit_code)
    except (KeyboardInterrupt, click.Abort):
        _complain("interrupted")
        return INTERRUPTED
    except click.UsageError as error:
        if debug:
            raise
        where = error.ctx.command_path if error.ctx else "rosenblatt"
        _complain(f"{_sentence(_usage(error))} See '{where} --help'.")
        return BAD
    except (click.ClickException, RosenblattError, OSError, ImportError, MemoryError) as error:
        if debug:
            raise
        with _running(arguments):
            _complain(_told(error))
        return BAD
    except Exception as error:
        if debug:
            raise
        _complain(
            f"a defect in rosenblatt, not in your data: {type(error).__name__}: {_one_line(error)}. "
            "Run it again with --debug, and report what it prints."
        )
        return BAD
    return int(code or DONE)


def _usage(error: click.UsageError) -> str:
    if isinstance(error, click.NoSuchOption):
        near = sorted(error.possibilities or (), key=lambda each: -_likeness(each, error.option_name))
        return f"there is no option {error.option_name}" + (f"; did you mean {near[0]}?" if near else "")
    return error.format_message()


def _likeness(one: str, other: str) -> float:
    from difflib import SequenceMatcher

    return SequenceMatcher(None, one, other).ratio()


def _told(error: BaseException) -> str:
    if isinstance(error, click.ClickException):
        return error.format_message()
    if isinstance(error, MemoryError):
        return (
            "there is not enough memory for this. Take fewer features (--bits; the largest LIBSVM index) or "
            f"fewer rows; {able_in_words('blocks')} train on more rows than memory holds."
        )
    if isinstance(error, OSError) and not isinstance(error, RosenblattError) and error.strerror:
        return f"{error.filename or 'reading or writing failed'}: {error.strerror}"
    return _one_line(error)


@contextmanager
def _running(arguments: Sequence[str]) -> Iterator[None]:
    """Name options as the command has them that the arguments call."""
    command = next((each for each in arguments if each in COMMANDS), None)
    found = (
        None if command is None else commands.get_command(click.Context(commands, resilient_parsing=True), command)
    )
    with nullcontext() if found is None else click.Context(found):
        yield


def _one_line(error: BaseException) -> str:
    """Return the message of an error or a warning on one line, in the words of the command line."""
    from rosenblatt.cli.options import in_options

    text = error.args[0] if error.args and isinstance(error.args[0], Message) else str(error)
    return " ".join(in_options(text).split())


def _sentence(message: str) -> str:
    return message if message.endswith((".", "?", "!")) else f"{message}."


def _say(message: str) -> None:
    with suppress(OSError):  # the reader of our messages has left
        print(message, file=sys.stderr, flush=True)


def _complain(message: str) -> None:
    with suppress(OSError):  # the reader of our messages has left
        print(f"rosenblatt: {printable_lines(message)}", file=sys.stderr)


@contextmanager
def _plain_warnings(*, quiet: bool) -> Iterator[None]:
    """Print each warning as one line, without the place in the code and without loading its category."""

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        if not quiet and category not in (DeprecationWarning, FutureWarning, ResourceWarning):
            _complain(f"note: {_one_line(message if isinstance(message, Warning) else Warning(message))}")

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = show
        with told_by(lambda message: warnings.warn(message, stacklevel=2)):
            yield

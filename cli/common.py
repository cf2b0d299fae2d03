"""Shared by all commands: options, printing, and the exit codes of errors."""

import logging
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from cli import terminal
from embedded.data_folder import NoStack
from embedded.folder_errors import describe_folder_error
from runtime.errors import InvalidInput, NotServing, ServiceError, Unavailable


def workspace_name(name: str) -> str:
    """The name of a tenant. Raises BadParameter for what cannot be one."""
    # `--help` answers without loading pydantic.
    import re  # noqa: PLC0415

    from contracts.ids import WORKSPACE_PATTERN  # noqa: PLC0415

    if not re.match(WORKSPACE_PATTERN, name):
        raise typer.BadParameter(
            "letters, digits, '_', '.' and '-', at most 64, the first a letter or a digit"
        )
    return name


Data = Annotated[
    Path | None,
    typer.Option(
        "--data",
        metavar="DIR",
        help="Data folder of the stack; else .lightstream.",
        file_okay=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, also for errors.")]
Reason = Annotated[
    str, typer.Option("--reason", metavar="TEXT", help="Why, for whoever looks later; it is kept.")
]
Yes = Annotated[
    bool, typer.Option("--yes", help="Do it. Without it the command only says what it would do.")
]
Workspace = Annotated[
    str,
    typer.Option(
        "--workspace",
        metavar="NAME",
        envvar="LIGHTSTREAM_WORKSPACE",
        help="Tenant whose documents are meant.",
        callback=workspace_name,
    ),
]

DATA = None
WORKSPACE = "default"


def echo(text: str = "", *, label: str = "", colour: str | None = None) -> None:
    """Print to standard output, behind a label in that colour; nothing in the text acts on the
    terminal.
    """
    typer.echo(_labelled(text, label, colour))


def note(text: str, *, label: str = "", colour: str | None = None) -> None:
    """Print to standard error: what is under way, never a result."""
    typer.echo(_labelled(text, label, colour), err=True)


def rewrite(text: str, *, is_finished: bool) -> None:
    """Write over the last line of the terminal on standard error, and end it there if that is
    `is_finished`.
    """
    typer.echo(f"\r\x1b[2K{terminal.line(text)}", err=True, nl=is_finished)


def _labelled(text: str, label: str, colour: str | None) -> str:
    # Colours are ours alone: typer leaves them out where no terminal is, and the text has none.
    return (
        f"{typer.style(label, fg=colour, bold=True)}{terminal.lines(text)}"
        if label
        else terminal.lines(text)
    )


def silent(_: str) -> None:
    """Print nothing: stands for `note` where JSON is wanted."""


def print_json(value: Any) -> None:
    """A JSON document on standard output."""
    typer.echo(terminal.as_json(value))


def show(result: dict[str, Any], indent: str = "") -> None:
    """Print names and values, one a line; what belongs to a name is indented."""
    for name, value in result.items():
        if isinstance(value, dict):
            echo(f"{indent}{name}")
            show(value, indent + "  ")  # pyright: ignore[reportUnknownArgumentType]
        else:
            echo(f"{indent}{name:<16} {value}")


@contextmanager
def errors(as_json: bool) -> Generator[None]:
    """Turn an error of ours into its sentence and exit code: see `exit_code`."""
    try:
        yield
    except ServiceError as error:
        _show_error(error, str(error), as_json)
        raise typer.Exit(exit_code(error)) from None
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    except BrokenPipeError:
        # Whoever read has had enough; Python would complain again when it flushes standard output
        # at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(1) from None
    except OSError as error:
        _show_error(error, describe_folder_error(error), as_json)
        raise typer.Exit(1) from None


def exit_code(error: ServiceError) -> int:
    """Return the exit code of a command that ends with this error; docs/operations.md has the
    table.
    """
    if isinstance(error, InvalidInput):
        return 2
    is_silent = isinstance(error, Unavailable) and not isinstance(error, NotServing)
    return 3 if is_silent or isinstance(error, NoStack) else 1


def _show_error(error: Exception, message: str, as_json: bool) -> None:
    if as_json:
        print_json({"error": {"type": type(error).__name__, "message": message}})
    else:
        note(f" {message}", label="error:", colour="red")


def interactive() -> bool:
    """Return True if standard output is a terminal."""
    return sys.stdout.isatty()


def tell_retries() -> None:
    """Say in a line what a command waits for before it asks again; the library's own lines are for
    programmers.
    """
    from stamina.instrumentation import RetryDetails, set_on_retry_hooks  # noqa: PLC0415

    def tell(details: RetryDetails) -> None:
        if details.wait_for >= 1:
            note(f"waits {details.wait_for:.0f} s: {details.caused_by}")

    set_on_retry_hooks([tell])


def quiet_logs() -> None:
    """Keep the runtime's structured logs off standard output, which is for results."""
    # Only commands that use the bus need it, and only some of these are traced.
    from runtime import logs  # noqa: PLC0415

    logs.configure("cli", "CRITICAL")
    if "OTEL_TRACES_EXPORTER" in os.environ:
        from runtime.telemetry import configure_traces  # noqa: PLC0415

        configure_traces("cli")
    # What a store's driver has to say of a lost connection, the error says that ends the command.
    logging.getLogger("neo4j").setLevel(logging.CRITICAL)

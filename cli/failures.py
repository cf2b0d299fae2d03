"""`retry` and `dead`: what failed, and how it is tried again."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from cli import terminal
from cli.audit_lines import audit_line
from cli.common import (
    DATA,
    WORKSPACE,
    Data,
    Json,
    Reason,
    Workspace,
    Yes,
    echo,
    errors,
    note,
    print_json,
    quiet_logs,
)
from runtime.errors import InvalidInput

if TYPE_CHECKING:
    from publishing.retries import Retries, RetryOutcome
    from runtime.bus.dead_letters import DeadLetter
    from runtime.bus.nats.dead_letters import NatsDeadLetters

# `--help` answers at once: the bus is loaded by the command that needs it.

T = TypeVar("T")

app = typer.Typer(help="Dead letters: messages that a stage has given up.", no_args_is_help=True)

Stage = Annotated[
    str | None, typer.Option(help="Only what failed in this service, for example extractor.")
]
Numbers = Annotated[list[int], typer.Argument(metavar="NUMBER…", help="As `dead list` has them.")]


def retry(
    documents: Annotated[
        list[str] | None,
        typer.Argument(metavar="[DOCUMENT…]", help="Ids or file names, as `status` has them."),
    ] = None,
    failed: Annotated[
        bool, typer.Option("--failed", help="Every document of which a part failed.")
    ] = False,
    stage: Stage = None,
    yes: Yes = False,
    reason: Reason = "",
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Try again what failed of documents: only that, so finished chunks are not paid for twice. The
    rest is paid.

    `status` shows the outcome. A document that somebody cancelled has not failed: add it again.
    Ends with code 1 when nothing had failed of a document named here, with 2 when there is none of
    that name.
    """
    with errors(as_json):
        if bool(documents) == failed:
            raise typer.BadParameter("name documents, or give --failed")
        quiet_logs()
        from publishing.retries import Retries, named_stage  # noqa: PLC0415

        retries = Retries(workspace, documents or (), named_stage(stage), reason)
        outcome, names = asyncio.run(_retry(data, retries, yes))
        if as_json:
            key = "requested" if yes else "would_retry"
            print_json({key: outcome.requested, "nothing_failed": outcome.nothing_failed})
        else:
            for id in () if yes else outcome.requested:
                echo(terminal.line(f"would try again {names.get(id, '')}  {id}"))
            echo(f"{len(outcome.requested)} tried again") if yes else note(
                "nothing is tried again without --yes"
            )
            for id in outcome.nothing_failed:
                note(f"  nothing has failed of {id!r} in workspace {workspace}")
        raise typer.Exit(1 if documents and outcome.nothing_failed else 0)


async def _retry(
    data: Data, retries: "Retries", yes: bool
) -> "tuple[RetryOutcome, Mapping[str, str]]":
    """Have these documents tried again, all that failed where none is named; without `yes` only say
    which.

    Returns the file names of documents, too, by id. Raises InvalidInput for a name that no document
    has.
    """
    from operations.command_bus import SOURCE, connect_bus  # noqa: PLC0415
    from operations.query_service import query_client  # noqa: PLC0415
    from operations.target import select_target  # noqa: PLC0415
    from publishing.retries import named_ids, plan_retries, request_retries  # noqa: PLC0415
    from runtime.bus.nats.log import NatsLog  # noqa: PLC0415

    stack = select_target(data)
    workspace = retries.workspace
    async with (
        connect_bus(stack.settings.nats_url) as bus,
        query_client(stack.api, workspace) as client,
    ):
        documents = (
            await client.documents_named(retries.ids)
            if retries.ids
            else await client.all_documents(status_filters=("failed", "partial"))
        )
        names = {document.id: document.file_path for document in documents}
        chosen_retries = replace(
            retries, ids=named_ids(retries.ids, names) if retries.ids else list(names)
        )
        log = NatsLog(bus)
        for id in chosen_retries.ids:
            # The status may not show yet what the log has.
            if id not in names and await log.newest(workspace, id, "DocumentAdded") is None:
                raise InvalidInput(f"no document {id!r} in workspace {workspace}")
        return await (
            request_retries(log, chosen_retries, SOURCE)
            if yes
            else plan_retries(log, chosen_retries)
        ), names


@app.command("list")
def list_letters(stage: Stage = None, data: Data = DATA, as_json: Json = False) -> None:
    """List dead letters of all workspaces, oldest first: number, time, consumer, place in the log,
    reason.
    """
    with errors(as_json):
        headers = _on_bus(data, lambda letters: letters.headers())
        letters = [letter for letter in headers if stage in (None, letter.stage)]
        if as_json:
            print_json([_fields(letter) for letter in letters])
            return
        for letter in letters:
            letter_line = terminal.line(f"{letter.consumer:<16}  {letter.subject}  {letter.reason}")
            echo(
                f"{letter.number:>7}  {letter.at:%Y-%m-%d %H:%M:%S}  "
                f"{letter.sequence or '-':>7}  {letter_line}"
            )
        if not letters:
            note("no dead letters")


@app.command()
def show(
    number: Annotated[int, typer.Argument(metavar="NUMBER")],
    data: Data = DATA,
    as_json: Json = False,
) -> None:
    """Show one dead letter whole: its headers, and its bytes as text."""
    with errors(as_json):
        from runtime.bus.dead_letters import whole_letter  # noqa: PLC0415

        letter = _on_bus(data, lambda letters: whole_letter(letters, number))
        fields = {**_fields(letter), "data": letter.data.decode("utf-8", "replace")}
        if as_json:
            print_json(fields)
            return
        for name, value in fields.items():
            echo(
                f"{name:<9} {terminal.line(value if isinstance(value, str) else json.dumps(value))}"
            )


@app.command()
def redrive(
    numbers: Numbers,
    yes: Yes = False,
    reason: Reason = "",
    data: Data = DATA,
    as_json: Json = False,
) -> None:
    """Try the messages again where they failed, after the cause is mended, and take them off the
    list.

    Ends with code 1 when a letter stays because its document has a newer version, or was deleted.
    """
    with errors(as_json):
        from operations.command_bus import SOURCE  # noqa: PLC0415
        from publishing import redriving  # noqa: PLC0415
        from runtime.bus.dead_letters import whole_letter  # noqa: PLC0415
        from runtime.bus.nats.log import NatsLog  # noqa: PLC0415

        async def each(letters: "NatsDeadLetters") -> list[int]:
            obsolete_numbers: list[int] = []
            for number in numbers:
                letter = await whole_letter(letters, number)
                log = NatsLog(letters.jetstream)
                if not yes:
                    was_redriven = await redriving.can_be_redriven(log, letter)
                else:
                    was_redriven = await redriving.redrive(
                        letters, log, letter, source=SOURCE, reason=reason
                    )
                if not was_redriven:
                    obsolete_numbers.append(number)
            return obsolete_numbers

        obsolete_numbers = _on_bus(data, each)
        redriven = [number for number in numbers if number not in obsolete_numbers]
        if as_json:
            print_json(
                {"redriven" if yes else "would_redrive": redriven, "obsolete": obsolete_numbers}
            )
        else:
            for number in () if yes else redriven:
                echo(f"would try again {number}")
            echo(f"{len(redriven)} tried again") if yes else note(
                "nothing is tried again without --yes"
            )
            for number in obsolete_numbers:
                note(
                    f"  {number}: its document has a newer version or is deleted; `dead drop` "
                    "removes it"
                )
        raise typer.Exit(1 if obsolete_numbers else 0)


@app.command()
def drop(
    numbers: Numbers,
    yes: Yes = False,
    reason: Reason = "",
    data: Data = DATA,
    as_json: Json = False,
) -> None:
    """Remove dead letters for good. The log keeps the events; only `retry` can try them again
    then.
    """
    with errors(as_json), audit_line("dead drop", data, reason, changes=yes, numbers=numbers):
        from runtime.bus import dead_letters  # noqa: PLC0415

        async def each(letters: "NatsDeadLetters") -> "list[DeadLetter]":
            dropped_letters = [
                await dead_letters.whole_letter(letters, number) for number in numbers
            ]
            await dead_letters.drop(letters, numbers if yes else ())
            return dropped_letters

        letters = _on_bus(data, each)
        if as_json:
            print_json(
                {"dropped" if yes else "would_drop": [_fields(letter) for letter in letters]}
            )
        else:
            for letter in letters:
                verb = "dropped" if yes else "would drop"
                echo(
                    terminal.line(
                        f"{verb} {letter.number}: {letter.consumer}  {letter.subject}  "
                        f"{letter.reason}"
                    )
                )
        if not yes and not as_json:
            note("nothing is removed without --yes")


def _fields(letter: "DeadLetter") -> dict[str, Any]:
    """Return a letter without its bytes, as JSON has it."""
    fields = {**asdict(letter), "at": letter.at.isoformat(), "stage": letter.stage}
    del fields["data"]
    return fields


def _on_bus(data: Data, work: "Callable[[NatsDeadLetters], Awaitable[T]]") -> T:
    """Return what `work` does with the dead letters of the stack."""
    from operations.command_bus import connect_bus  # noqa: PLC0415
    from operations.target import select_target  # noqa: PLC0415
    from runtime.bus.nats.dead_letters import NatsDeadLetters  # noqa: PLC0415

    async def run() -> T:
        async with connect_bus(select_target(data).settings.nats_url) as bus:
            return await work(NatsDeadLetters(bus))

    quiet_logs()
    return asyncio.run(run())

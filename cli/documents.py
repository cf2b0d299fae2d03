"""`add` and `status`: documents into the stack, and how far they are."""

import asyncio
import uuid
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.audit_lines import audit_line
from cli.chunking import ChunkOverlap, ChunkSize, Strategy, chunking_of
from cli.common import (
    DATA,
    WORKSPACE,
    Data,
    Json,
    Reason,
    Workspace,
    echo,
    errors,
    note,
    print_json,
    quiet_logs,
    tell_retries,
)
from cli.terminal import line
from cli.validity import (
    Authority,
    Supersedes,
    ValidFrom,
    ValidUntil,
    superseded_documents,
    validity_of,
)
from runtime.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Coroutine, Sequence

    from lightstream_rag.client import AsyncLightstream
    from lightstream_rag.failures import ParkedEvents
    from lightstream_rag.models import Document
    from operations.adding import AddOptions, AddOutcome
    from operations.documents import DocumentSelection, LeftOutFile
    from operations.target import Target

# `--help` answers at once: parsers and drivers are loaded by the command that needs them.

MAX_SHOWN = 20
"""Unfinished documents `status` lists, and refusals `add` does."""

MAX_NAMES = 5
"""Files that are named of those that `add` skips for one reason; --json names all."""


def add(
    paths: Annotated[
        list[str], typer.Argument(metavar="PATH…", help="Files, folders, or - for standard input.")
    ],
    wait: Annotated[
        bool, typer.Option("--wait", help="Wait until the documents can be asked about.")
    ] = False,
    name: Annotated[
        str, typer.Option("--name", help="Name of what comes from standard input.")
    ] = "",
    encoding: Annotated[
        str,
        typer.Option(
            "--encoding",
            metavar="NAME",
            help="What text files are in, as windows-1252; else detected.",
        ),
    ] = "",
    estimate: Annotated[
        bool,
        typer.Option(
            "--estimate", help="Add nothing: show what models would be paid, by an estimate."
        ),
    ] = False,
    allow: Annotated[
        list[str] | None,
        typer.Option(
            "--allow",
            metavar="PRINCIPAL",
            help="Who may see them: user:ann, group:legal, everyone. May be repeated.",
        ),
    ] = None,
    deny: Annotated[
        list[str] | None,
        typer.Option("--deny", metavar="PRINCIPAL", help="Who may not, though allowed."),
    ] = None,
    valid_from: ValidFrom = None,
    valid_until: ValidUntil = None,
    supersedes: Supersedes = None,
    authority: Authority = 0,
    chunking: Strategy = None,
    chunk_size: ChunkSize = None,
    chunk_overlap: ChunkOverlap = None,
    reason: Reason = "",
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Add documents: .html .htm .pdf .docx .pptx .xlsx .csv .tsv .json .jsonl .odt .ods .odp .epub
    .rtf .eml .mht .mhtml .mbox .svg .ipynb .png .jpg .jpeg .tif .tiff .webp, Office templates,
    slide shows and files with macros, and text of any other name.

    Pictures and scanned pages are read where the extra `ocr` is installed. Folders are read with
    all below them, hidden files are not. What the log has already is not sent again; a document
    with a new text replaces the old one. Ends with code 1 when any document was refused or failed.
    """
    # The log has who added what: the line is for the reason.
    is_recorded = bool(reason) and not estimate
    with (
        errors(as_json),
        audit_line("add", data, reason, changes=is_recorded, paths=paths[:MAX_SHOWN]),
    ):
        quiet_logs()
        from contracts.access import access_of  # noqa: PLC0415
        from contracts.ids import UNKNOWN_SOURCE  # noqa: PLC0415
        from operations.adding import AddOptions  # noqa: PLC0415
        from operations.documents import find_documents  # noqa: PLC0415
        from operations.target import select_target  # noqa: PLC0415
        from publishing.draft import validated  # noqa: PLC0415
        from runtime.parsing.encodings import validated_encoding  # noqa: PLC0415
        from runtime.parsing.settings import ParserSettings  # noqa: PLC0415

        encoding = validated_encoding(encoding) if encoding else ""
        access = validated(lambda: access_of(allow or [], deny or []))
        target = select_target(data)
        settings = target.settings_of(ParserSettings)
        documents = find_documents(
            paths,
            stdin_name=name or UNKNOWN_SOURCE,
            services=settings.parsing_services(),
        )
        superseded_ids = superseded_documents(data, workspace, supersedes or [])
        validity = validated(
            lambda: validity_of(valid_from, valid_until, superseded_ids, authority)
        )
        options = AddOptions(
            encoding,
            access,
            validity,
            settings.keep_originals,
            chunking_of(chunking, chunk_size, chunk_overlap),
        )
        if estimate:
            from cli.costs import estimate_added  # noqa: PLC0415

            has_failed = asyncio.run(estimate_added(target, documents, options, as_json, workspace))
        else:
            adding = add_and_follow(
                target, workspace, documents, options, wait=wait, is_hidden=as_json
            )
            has_failed = asyncio.run(_add(adding, documents, as_json))
        if has_failed:
            raise typer.Exit(1)


async def _add(
    adding: 'Coroutine[Any, Any, tuple["AddOutcome", list["Document"]]]',
    documents: "DocumentSelection",
    as_json: bool,
) -> bool:
    outcome, statuses = await adding
    if as_json:
        shown_documents = [document.model_dump(exclude_unset=True) for document in statuses]
        skipped = [asdict(skipped_file) for skipped_file in documents.skipped]
        print_json({**asdict(outcome), "skipped": skipped, "documents": shown_documents})
    else:
        show_outcome(outcome, documents.skipped)
        for document in statuses:
            if document.status != "processed":
                note(
                    f"  {document.status}: {line(document.file_path)}: "
                    f"{line(document.error_msg or 'see `status`')}"
                )
            _show_later_warnings(document, outcome)
    unfinished_documents = [document for document in statuses if document.status != "processed"]
    return bool(outcome.refused or unfinished_documents)


def _show_later_warnings(document: "Document", outcome: "AddOutcome") -> None:
    """Print what stages behind the parser warn of; what the parser left out is printed already."""
    shown_warnings = {doubt.warning for doubt in outcome.warnings}
    for warning in document.warnings:
        if warning not in shown_warnings:
            note(f"  warning {line(document.file_path)}: {line(warning)}")


async def add_and_follow(
    stack: "Target",
    workspace: str,
    documents: "DocumentSelection",
    options: "AddOptions | None" = None,
    *,
    wait: bool,
    is_hidden: bool,
) -> tuple["AddOutcome", list["Document"]]:
    """Add the documents, and with `wait` follow them; return the outcome and the statuses of those
    in the log.
    """
    from cli.bars import progress_bars  # noqa: PLC0415
    from operations import adding, progress  # noqa: PLC0415
    from operations.command_bus import connect_bus  # noqa: PLC0415
    from operations.query_service import query_client  # noqa: PLC0415

    track = f"insert_{uuid.uuid4()}"
    total = len(documents.sources)
    async with (
        connect_bus(stack.settings.nats_url) as bus,
        query_client(stack.api, workspace) as client,
    ):
        with progress_bars(is_hidden=is_hidden) as show:
            additions = progress.Additions(show, total)
            outcome = await adding.add_documents(
                bus,
                workspace,
                documents.sources,
                track_id=track,
                on_done=additions.count,
                options=replace(options or adding.NO_OPTIONS, on_page=additions.show_page),
            )
            outcome.refused[:0] = documents.refused
            if not (wait and (times := outcome.added_at)):
                return outcome, []

            async def caught_up() -> bool:
                return await adding.is_in_status(bus, workspace, outcome.last_sequence)

            return outcome, await progress.wait_for_documents(client, times, caught_up, show)


def show_outcome(outcome: "AddOutcome", skipped: "Sequence[LeftOutFile]") -> None:
    """Print how many documents were added, unchanged, refused or skipped, and why."""
    from runtime.parsing.encodings import SAY_ENCODING  # noqa: PLC0415

    parts = [f"{len(outcome.added)} added", f"{len(outcome.unchanged)} unchanged"]
    parts += [f"{len(outcome.refused)} refused"] if outcome.refused else []
    parts += [f"{len(skipped)} files skipped"] if skipped else []
    echo(", ".join(parts))
    show_skipped(skipped)
    for refused_document in outcome.refused[:MAX_SHOWN]:
        note(f"  refused {line(refused_document.name)}: {line(refused_document.reason)}")
    if len(outcome.refused) > MAX_SHOWN:
        note(f"  … and {len(outcome.refused) - MAX_SHOWN} more")
    for doubt in outcome.warnings[:MAX_SHOWN]:
        way = " (--encoding NAME)" if doubt.warning.endswith(SAY_ENCODING) else ""
        note(f"  warning {line(doubt.name)}: {line(doubt.warning)}{way}")
    if len(outcome.warnings) > MAX_SHOWN:
        note(f"  … and {len(outcome.warnings) - MAX_SHOWN} more warnings")


def show_skipped(skipped: "Sequence[LeftOutFile]") -> None:
    """Print names of what was skipped, by reason."""
    for reason in dict.fromkeys(skipped_file.reason for skipped_file in skipped):
        names = [
            line(skipped_file.name) for skipped_file in skipped if skipped_file.reason == reason
        ]
        rest_text = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
        note(f"  skipped {', '.join(names[:MAX_NAMES])}{rest_text}: {reason}")


def status(
    document: Annotated[
        str, typer.Argument(metavar="[DOCUMENT]", help="Id or file name; without it, all.")
    ] = "",
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """How far the documents are: counts by status and what is unfinished, or everything about one
    document.
    """
    with errors(as_json):
        from operations.query_service import query_address  # noqa: PLC0415

        tell_retries()
        base = query_address(data)
        asyncio.run(
            _one(base, document, as_json, workspace) if document else _all(base, as_json, workspace)
        )


async def _one(base: str, id_or_path: str, as_json: bool, workspace: str) -> None:
    from operations.query_service import query_client  # noqa: PLC0415

    async with query_client(base, workspace) as client:
        matches = await client.documents_named([id_or_path])
    if not matches:
        raise InvalidInput(f"no document {id_or_path!r} in workspace {workspace}")
    fields = matches[0].model_dump(exclude_unset=True)
    if as_json:
        print_json(fields)
        return
    for key, value in {**fields, **matches[0].metadata}.items():
        if key not in ("metadata", "warnings") and value not in (None, ""):
            echo(f"{line(key):<16} {line(value)}")
    for warning in matches[0].warnings:
        echo(f"{'warning':<16} {line(warning)}")


async def _all(base: str, as_json: bool, workspace: str) -> None:
    from operations.query_service import query_client  # noqa: PLC0415

    async with query_client(base, workspace) as client:
        numbers = await client.status_counts()
        other_statuses = [
            name for name, number in numbers.items() if number and name not in ("all", "processed")
        ]
        unfinished_documents: Sequence[Document] = ()
        if other_statuses and as_json:
            unfinished_documents = await client.all_documents(status_filters=other_statuses)
        elif other_statuses:
            page = await client.list_documents(
                1, MAX_SHOWN, status_filters=other_statuses, sort_field="id", sort_direction="asc"
            )
            unfinished_documents = page.documents
        parked_events = await _parked_events(client)
    if as_json:
        shown_documents = [
            document.model_dump(exclude_unset=True) for document in unfinished_documents
        ]
        print_json(
            {
                "status_counts": numbers,
                "unfinished": shown_documents,
                "parked": [count.model_dump(exclude={"summary"}) for count in parked_events],
            }
        )
        return
    echo(f"{numbers.get('all', 0)} documents in workspace {workspace}")
    for name, number in numbers.items():
        if number and name != "all":
            echo(f"  {name:<14} {number}")
    for waiting in parked_events:
        echo("  parked         " + line(waiting.summary))
    for document in unfinished_documents:
        echo(
            "  "
            + line(
                f"{document.status}: {document.file_path} {_counts(document)} "
                f"{document.error_msg or ''}".rstrip()
            )
        )
        for warning in document.warnings:
            echo(f"    warning: {line(warning)}")


async def _parked_events(client: "AsyncLightstream") -> "list[ParkedEvents]":
    from lightstream_rag.errors import LightstreamError  # noqa: PLC0415

    try:
        return await client.parked_events()
    except LightstreamError as error:  # additional: the counts of documents are told all the same
        note(f"which events are parked is not known: {error}")
        return []


def _counts(document: "Document") -> str:
    progress = document.metadata
    stage_counts = [
        f"{progress[name]} {name}"
        for name in ("extracted", "merged", "embedded", "indexed")
        if name in progress
    ]
    return (
        f"({', '.join(stage_counts)} of {progress.get('chunks', '?')} chunks)"
        if stage_counts
        else ""
    )

"""`receipts`: which answers were given, on what each rests, and whether the log still has it so."""

import asyncio
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.client import call_query_service
from cli.common import (
    DATA,
    WORKSPACE,
    Data,
    Json,
    Workspace,
    echo,
    errors,
    note,
    print_json,
    quiet_logs,
)
from cli.document_ids import document_id
from cli.rebuild_output import Progress, ignore
from cli.terminal import counted, line
from cli.validity import FORMATS, with_zone
from runtime.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lightstream_rag.client import AsyncLightstream
    from lightstream_rag.receipts import ReceiptSummary

# `--help` answers at once: the client and the bus are loaded by the command that needs them.

app = typer.Typer(
    help="Receipts: what each answer was asked, and on what it rests.", no_args_is_help=True
)

ITEMS = "entities and relations"

ReceiptId = Annotated[
    str, typer.Argument(metavar="ID", help="As the answer, or `receipts list`, has it.")
]


@app.command("list")
def list_(
    since: Annotated[
        str, typer.Option("--since", metavar="SEQ|TIME", help="Only those behind it.")
    ] = "",
    asker: Annotated[
        str, typer.Option("--asker", metavar="NAME", help="Only of who asked: key:web, user:ada.")
    ] = "",
    document: Annotated[
        str,
        typer.Option(
            "--document", metavar="DOCUMENT", help="Only answers that rest on it: id or file name."
        ),
    ] = "",
    entity: Annotated[
        str, typer.Option("--entity", metavar="NAME", help="Only answers that rest on it.")
    ] = "",
    passage: Annotated[
        str, typer.Option("--passage", metavar="ID", help="Only answers that rest on it.")
    ] = "",
    limit: Annotated[
        int, typer.Option("--limit", min=1, max=1000, help="The newest so many.")
    ] = 50,
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """List the newest receipts of answers: all, or those that rest on a document, an entity or a
    passage.
    """
    with errors(as_json):

        async def listed(client: "AsyncLightstream") -> "Sequence[ReceiptSummary]":
            receipts = await client.receipts(
                since=since,
                asker=asker,
                document=await document_id(client, document) if document else "",
                entity=entity,
                passage=passage,
                limit=limit,
            )
            if not receipts:
                await _check_names(client, document, entity, passage)
            return receipts

        receipts = call_query_service(data, workspace, listed)
        if as_json:
            print_json([receipt.model_dump() for receipt in receipts])
            return
        for receipt in receipts:
            words = receipt.question if receipt.question is not None else f"({receipt.form})"
            changes = receipt.changed_passages
            change_note = f", {counted(changes, 'passage')} changed since" if changes else ""
            if edits := receipt.edited_items:
                change_note += f", {counted(edits, 'entity or relation', ITEMS)} edited since"
            echo(
                line(
                    f"{receipt.id}  {receipt.asked_at[:19]}  {receipt.asker or '-'}  "
                    f"{counted(receipt.documents, 'document')}{change_note}  {words}"
                )
            )
        if not receipts and (asker or document or entity or passage or since):
            note("no receipts of such answers")
        elif not receipts:
            note("no receipts; the setting RECEIPTS says whether answers are recorded")


async def _check_names(
    client: "AsyncLightstream", document: str, entity: str, passage: str
) -> None:
    """Raise InvalidInput for what is not there: no answer can rest on it."""
    if document and not await client.documents_named([document]):
        raise InvalidInput(f"there is no document {document!r}")
    if entity and not await client.entity_exists(entity):
        raise InvalidInput(f"there is no entity {entity!r}")
    if passage:
        await client.passages_around(passage, before=0, after=0)


@app.command()
def show(
    id: ReceiptId, data: Data = DATA, as_json: Json = False, workspace: Workspace = WORKSPACE
) -> None:
    """Show one receipt."""
    with errors(as_json):
        receipt = call_query_service(data, workspace, lambda client: client.receipt(id))
        if as_json:
            print_json(receipt.model_dump())
        else:
            show_receipt(receipt.model_dump())


@app.command()
def replay(
    id: ReceiptId,
    question: Annotated[
        str,
        typer.Option("--question", metavar="TEXT", help="Where the receipt has its hash alone."),
    ] = "",
    without_answer: Annotated[
        bool, typer.Option("--without-answer", help="Have no answer written: compare the rest.")
    ] = False,
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Ask the question of a receipt once more, from the same place of the log with the same
    settings, and say what is the same. Ends with code 1 where evidence or prompt differ.
    """
    with errors(as_json):
        replayed = call_query_service(
            data,
            workspace,
            lambda client: client.replay_receipt(id, query=question, answer=not without_answer),
        )
        if as_json:
            print_json(replayed.model_dump())
        else:
            for name in ("evidence", "prompt", "answer"):
                same = getattr(replayed, name)
                words = "not compared" if same is None else "the same" if same else "another one"
                echo(f"{name}: {words}")
            for label, ids in (("then, not now", replayed.missing), ("now only", replayed.new)):
                for evidence_id in ids:
                    echo(line(f"  {label}: {evidence_id}"))
            for sentence in replayed.notes:
                note(line(f"  {sentence}"))
        differs = not replayed.evidence or replayed.prompt is False
        raise typer.Exit(1 if differs else 0)


@app.command()
def export(
    id: Annotated[
        str, typer.Argument(metavar="[ID]", help="Of one receipt; none: those of a period.")
    ] = "",
    since: Annotated[
        datetime | None,
        typer.Option(
            "--since", formats=FORMATS, metavar="TIME", help="Of questions asked from then on."
        ),
    ] = None,
    until: Annotated[
        datetime | None,
        typer.Option(
            "--until", formats=FORMATS, metavar="TIME", help="Of questions asked before; UTC."
        ),
    ] = None,
    with_texts: Annotated[
        bool, typer.Option("--texts", help="With the texts of the passages that it rests on.")
    ] = False,
    chain: Annotated[
        str,
        typer.Option(
            "--chain", metavar="HASH", help="How far the proof reaches, by the hash there."
        ),
    ] = "",
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Into this new file; else standard output."),
    ] = None,
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Export one receipt, or those of a period, as JSON-LD (PROV-O), with their places in the audit
    chain: `receipts verify FILE` verifies them without a stack. It is a copy: no erasure reaches
    it.
    """
    with errors(as_json):
        quiet_logs()
        if bool(id) == bool(since or until):
            raise InvalidInput("name one receipt, or a period with --since and --until")
        start, end = since and with_zone(since), until and with_zone(until)
        if start and end and end <= start:
            raise InvalidInput(f"--until {end} is not later than --since {start}: swap them")
        from operations.receipt_export import (  # noqa: PLC0415
            PeriodExport,
            ReceiptExport,
            export_from_stack,
        )
        from operations.target import select_target  # noqa: PLC0415

        receipt_export = (
            ReceiptExport(workspace, id, with_texts=with_texts, chain=chain)
            if id
            else PeriodExport(
                workspace,
                start,
                end,
                with_texts=with_texts,
                chain=chain,
            )
        )
        settings = select_target(data).settings
        text = asyncio.run(export_from_stack(receipt_export, settings))
        if out is None:
            echo(text.rstrip())
            return
        try:
            with out.open("x", encoding="utf-8") as file:
                file.write(text)
        except FileExistsError:
            raise InvalidInput(f"{out} is there already: name a new file") from None
        note(f"`lightstream receipts verify {out}` verifies it, here and elsewhere")


@app.command()
def verify(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[FILE]...",
            help="Of `receipts export`; none: those of the log.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    chain: Annotated[
        str,
        typer.Option("--chain", metavar="HASH", help="The chain in the files must have had it."),
    ] = "",
    text: Annotated[
        list[Path] | None,
        typer.Option(
            "--text",
            metavar="FILE",
            help="Must be a text of the receipt, by its hash.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Verify exported receipts, without a stack. Or, without files, those of a workspace: the
    hashes of their texts, the passages they name in the log, and the hash chains of the whole log.
    Ends with code 1 where something is not as it was.
    """
    with errors(as_json):
        quiet_logs()
        if files:
            from cli.receipt_files import verify_files  # noqa: PLC0415

            raise typer.Exit(verify_files(files, chain, text or [], as_json=as_json))
        if chain or text:
            raise InvalidInput("--chain and --text are for files: name one")
        from operations.receipts import verify_receipts  # noqa: PLC0415
        from operations.target import select_target  # noqa: PLC0415

        report = ignore if as_json else Progress()
        settings = select_target(data).settings
        findings = asyncio.run(verify_receipts(settings, workspace, report))
        if as_json:
            print_json(asdict(findings))
        else:
            echo(
                f"{counted(findings.receipts, 'receipt')}, {findings.erased} of them without the "
                f"words of erased documents; in the log as they were: "
                f"{counted(findings.passages, 'passage')}"
            )
            if findings.chain:
                echo(f"the chain of questions and answers ends in {findings.chain}")
            for problem in findings.problems:
                note(f"  {problem}")
        raise typer.Exit(1 if findings.problems else 0)


def show_receipt(receipt: dict[str, Any]) -> None:
    """Print a receipt as a person reads it."""
    event = receipt["event"]
    settings = event["settings"]
    evidence = event["evidence"]
    mode = " → ".join(filter(None, (settings["mode"], settings["chosen_mode"])))
    echo(f"receipt {receipt['id']} ({event['form']}), at {receipt['sequence']} of the log")
    asker = receipt["asker"] or "-"
    if event.get("viewer") is not None:
        asker = f"{asker} for {', '.join(event['viewer']) or 'everyone'}"
    echo(line(f"asked by {asker} at {event['asked_at']}, mode {mode}"))
    echo(f"answered from the log up to {event['position']}, in {event['duration_ms']} ms")
    model = event["model"] if event["by_model"] else "no language model"
    echo(line(f"by {model}{', cached' if event['is_cached'] else ''}; it is {event['end']}"))
    for cost in event["costs"]:
        usage = cost["usage"]
        echo(
            line(
                f"paid to {cost['model']} for {cost['step']}: {usage['prompt']:,} tokens read, "
                f"{usage['completion']:,} written"
            )
        )
    if erased_documents := event["erased_documents"]:
        echo(line(f"without the words of erased documents: {', '.join(erased_documents)}"))
    for name in ("question", "answer"):
        echo(f"\n{name}: {_text(event[name])}")
    echo()
    for passage in evidence["passages"]:
        of = passage["file_path"] or passage["document_id"]
        hash = passage["sha256"][:12] or "erased"
        echo(line(f"[{passage['reference'] or '-'}] {of}  {passage['chunk_id']}  {hash}"))
    counts = f"{len(evidence['entities'])} entities, {len(evidence['relations'])} relations"
    echo(f"and {counts}, of {len(evidence['documents'])} documents in all")


def _text(recorded: dict[str, Any]) -> str:
    return f"sha256 {recorded['sha256']}" if recorded["text"] is None else recorded["text"]

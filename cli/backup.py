"""`backup`, `verify` and `restore`: the log in a folder, and back."""

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.audit_lines import audit_line
from cli.common import (
    DATA,
    Data,
    Json,
    Reason,
    Yes,
    echo,
    errors,
    note,
    print_json,
    quiet_logs,
    silent,
)
from cli.rebuild_output import Progress, ignore
from runtime.errors import InvalidInput

if TYPE_CHECKING:
    from operations.backup.verifying import VerifiedBackup

# `--help` answers at once: the bus and the stores' drivers are loaded by the command that needs
# them. ruff: noqa: PLC0415

Folder = Annotated[
    Path, typer.Argument(metavar="DIR", help="Folder of the backup.", file_okay=False)
]
Folders = Annotated[
    list[Path],
    typer.Argument(
        metavar="DIR…",
        help="Folder of the backup, then those taken with --since behind it, in order.",
    ),
]


def backup(
    folder: Folder,
    since: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="SEQ",
            help="Only what is behind this sequence, in a folder of its own. Without it all.",
        ),
    ] = None,
    digests: Annotated[
        bool,
        typer.Option(
            "--digests/--no-digests",
            help="Note what a restore can prove itself by; reads all stores.",
        ),
    ] = True,
    reason: Reason = "",
    data: Data = DATA,
    as_json: Json = False,
) -> None:
    """Copy the log into a folder while the stack runs: events, long texts, dead letters, parked
    events, pointers.

    Into the folder of an earlier backup it adds what is new, and takes out what was erased since.
    Killed half way, it can simply be started again. Ends with code 1 when the bus lacks a text, or
    cannot read an event.
    """
    with errors(as_json), audit_line("backup", data, reason, folder=str(folder)):
        quiet_logs()
        from operations.backup.stack import back_up  # noqa: PLC0415
        from operations.target import select_target  # noqa: PLC0415

        settings = select_target(data).settings
        report = ignore if as_json else Progress()
        manifest, new_count = asyncio.run(
            back_up(settings, folder.expanduser(), since, report, digests=digests)
        )
        if as_json:
            counts = {"messages": manifest.messages, "texts": len(manifest.blobs), "new": new_count}
            fields = {**asdict(manifest), "folder": str(folder), **counts}
            print_json(
                {name: value for name, value in fields.items() if name not in ("values", "events")}
            )
        else:
            echo(
                f"{manifest.messages} events up to {manifest.last}, {len(manifest.blobs)} "
                f"long texts; {new_count} are new"
            )
            if manifest.erased:
                echo(f"{manifest.erased} events were taken out because they were erased")
            echo(
                f"no digests: {manifest.undigested}"
                if manifest.undigested
                else "with digests of every workspace"
            )
            for sha256 in manifest.missing_blobs:
                note(f"  the bus lacks the text {sha256}")
            for sequence in manifest.unreadable:
                note(f"  the bus cannot read sequence {sequence}: `lightstream audit` says more")
        raise typer.Exit(1 if manifest.missing_blobs or manifest.unreadable else 0)


def verify(folders: Folders, as_json: Json = False) -> None:
    """Read a backup and check every hash. Needs no stack. Ends with code 1 when something is wrong
    with it.
    """
    with errors(as_json):
        verified_backup = _verified(folders, as_json)
        if as_json:
            print_json({**_counts(verified_backup), "problems": list(verified_backup.problems)})
        else:
            echo(_line(verified_backup))
            for problem in verified_backup.problems:
                note(f"  {problem}")
        raise typer.Exit(1 if verified_backup.problems else 0)


def restore(
    folders: Folders,
    yes: Yes = False,
    replicas: Annotated[
        int, typer.Option(min=1, max=5, help="Copies of each stream in a cluster.")
    ] = 1,
    reason: Reason = "",
    data: Data = DATA,
    as_json: Json = False,
) -> None:
    """Restore a backup into an empty stack: every event at its place in the log, then status, graph
    and vectors.

    A data folder must not run yet: it is started when its log is there. Of a deployment (NATS_URL)
    the servers must run and the services must not. The restored log is compared with the backup
    event by event, and the projections with the digests that the backup noted. Ends with code 1
    when one differs. Killed half way, it can be started again.
    """
    with (
        errors(as_json),
        audit_line(
            "restore", data, reason, changes=yes, folders=[str(folder) for folder in folders]
        ),
    ):
        quiet_logs()
        verified_backup = _verified(folders, as_json)
        if verified_backup.problems:
            raise InvalidInput(
                f"the backup is not restored: {verified_backup.problems[0]}; `lightstream verify` "
                "lists all"
            )
        if not yes:
            _show_plan(verified_backup, as_json)
            return
        from operations.backup import stack  # noqa: PLC0415

        report, say = (ignore, silent) if as_json else (Progress(), note)
        restored_stack = stack.restore(
            data, verified_backup, report, say, replicas=replicas, reason=reason
        )
        differing = [
            f"{name} of {space}"
            for space, of in restored_stack.digests.items()
            for name, is_same in of.items()
            if not is_same
        ]
        if as_json:
            print_json(asdict(restored_stack))
        else:
            echo(
                f"{restored_stack.events} events up to sequence {restored_stack.last} and "
                f"{restored_stack.texts} long texts are in {restored_stack.stack}"
            )
            echo("the log is the backup's, event by event")
            if restored_stack.undigested:
                echo(f"the backup has no digests to compare: {restored_stack.undigested}")
            elif not differing:
                echo("status, graph and vectors have the digests that the backup noted")
            for differing_name in differing:
                note(f"  {differing_name} has another digest than the backup noted")
        raise typer.Exit(1 if differing else 0)


def _verified(folders: Sequence[Path], as_json: bool) -> "VerifiedBackup":
    from operations.backup.verifying import verify as verify_backup  # noqa: PLC0415

    return verify_backup(
        [folder.expanduser() for folder in folders], ignore if as_json else Progress()
    )


def _show_plan(verified_backup: "VerifiedBackup", as_json: bool) -> None:
    if as_json:
        print_json({"would_restore": _counts(verified_backup)})
    else:
        echo(_line(verified_backup))
        note("nothing is restored without --yes")


def _counts(verified_backup: "VerifiedBackup") -> dict[str, object]:
    texts = sum(len(manifest.blobs) for manifest in verified_backup.manifests)
    return {
        "events": verified_backup.messages,
        "texts": texts,
        "last": verified_backup.last.last,
        "taken_at": verified_backup.last.taken_at,
        "digests": bool(verified_backup.last.digests),
    }


def _line(verified_backup: "VerifiedBackup") -> str:
    texts = sum(len(manifest.blobs) for manifest in verified_backup.manifests)
    last_manifest = verified_backup.last
    return (
        f"{verified_backup.messages} events up to sequence {last_manifest.last}, "
        f"{texts} long texts, of {last_manifest.taken_at}"
    )

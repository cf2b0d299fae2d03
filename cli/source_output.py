"""What `sync`, `watch` and `sources list` print of a source and of a run over it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from cli.common import echo, note
from cli.documents import show_skipped
from cli.terminal import counted, line

if TYPE_CHECKING:
    from operations.sources.sync import SyncOutcome
    from publishing.sources import SyncedSource

MAX_SHOWN = 20
"""Documents that are listed of those that were refused, deleted or kept; --json names all."""


def source_fields(source: "SyncedSource") -> dict[str, Any]:
    """Return a source as JSON has it."""
    last_run = source.last_run
    return {
        "source": source.name,
        "state": source.state,
        "state_reason": source.state_reason,
        "state_by": source.state_actor,
        "documents": len(source.versions),
        "synced_at": source.synced_at.isoformat() if source.synced_at else None,
        "synced_by": source.actor,
        "cursor": source.cursor,
        "refused": last_run.refusal_count if last_run else 0,
        "kept": last_run.kept_count if last_run else 0,
    }


def last_run(source: "SyncedSource") -> str:
    run = source.last_run
    at = source.synced_at
    documents = counted(len(source.versions), "document")
    parts = [documents, f"{at:%Y-%m-%d %H:%M}" if at else "no run ended"]
    parts += [f"{run.refusal_count} refused"] if run and run.refusal_count else []
    parts += [f"{run.kept_count} gone and kept"] if run and run.kept_count else []
    parts += [line(source.state_reason)] if source.state_reason else []
    return ", ".join(parts)


def show_outcome(outcome: "SyncOutcome") -> None:
    """Print what a run did, with names of what needs a look."""
    would = "would be " if outcome.dry_run else ""
    parts = [f"{len(outcome.additions)} {would}added", f"{outcome.unchanged_count} unchanged"]
    parts += [f"{len(outcome.deletions)} {would}deleted"] if outcome.deletions else []
    parts += [f"{len(outcome.refusals)} refused"] if outcome.refusals else []
    parts += [f"{len(outcome.skipped_files)} skipped"] if outcome.skipped_files else []
    echo(f"{line(outcome.source)}: {', '.join(parts)}")
    show_skipped(outcome.skipped_files)
    if outcome.note:
        note(f"  {line(outcome.note)}")
    _show_names(f"{would}deleted", outcome.deletions)
    for refusal in outcome.refusals[:MAX_SHOWN]:
        note(f"  refused {line(refusal.name)}: {line(refusal.reason)}")
    if outcome.kept_documents:
        note(
            f"  gone from the source, more than --most-gone allows: "
            f"{counted(len(outcome.kept_documents), 'document')}; kept until --yes is given",
        )
        _show_names("kept", outcome.kept_documents)


def _show_names(label: str, names: Sequence[str]) -> None:
    for name in names[:MAX_SHOWN]:
        note(f"  {label} {line(name)}")
    if len(names) > MAX_SHOWN:
        note(f"  … and {len(names) - MAX_SHOWN} more")

"""`find`, `read` and `paths`: exact search, reading on around a passage, and how entities are
connected.
"""

from typing import TYPE_CHECKING, Annotated

import typer

from cli import terminal
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
)

if TYPE_CHECKING:
    from lightstream_rag.search import EntityPath, MatchingPassage, PassageMatches

# `--help` answers at once: the client is loaded by the command that needs it.

AsOf = Annotated[
    str | None,
    typer.Option(
        "--as-of",
        metavar="SEQ|TIME",
        help="As the log had it then: 17, 2026-03-01T12:00.",
    ),
]


def find(
    keywords: Annotated[
        list[str],
        typer.Argument(
            metavar="KEYWORD…", help="A word, or a phrase in quotes; passages with any of them."
        ),
    ],
    documents: Annotated[
        list[str] | None,
        typer.Option("--document", help="Only in this one: its id or file name. May be repeated."),
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", min=1, max=100, help="Passages, and names, at most.")
    ] = 10,
    offset: Annotated[
        int, typer.Option("--offset", min=0, max=10_000, help="Passages to pass over.")
    ] = 0,
    as_of: AsOf = None,
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Find passages and names of entities that have words as they are written, in any case; no
    model is asked.
    """
    with errors(as_json):
        matches = call_query_service(
            data,
            workspace,
            lambda client: client.search_passages(
                keywords, documents=documents or (), limit=limit, offset=offset, as_of=as_of
            ),
        )
        if as_json:
            print_json(matches.model_dump())
            return
        for passage in matches.passages:
            _show_match(passage)
        _show_totals(matches, offset)


def _show_match(passage: "MatchingPassage") -> None:
    page = f", page {passage.page}" if passage.page else ""
    headings = f"  {' > '.join(passage.headings)}" if passage.headings else ""
    place = f"{passage.file_path}{page}{headings}"
    echo(f"{passage.count:>4} × {terminal.line(place)}  [{passage.chunk_id}]")
    for snippet in passage.snippets:
        echo(f"       {terminal.line(snippet)}")


def _show_totals(matches: "PassageMatches", offset: int) -> None:
    if matches.names:
        names = ", ".join(f"{name.name} ({name.type})" for name in matches.names)
        further_names = matches.total_names - len(matches.names)
        further_part = f", and {further_names} more" if further_names else ""
        echo(terminal.line(f"entities: {names}{further_part}"))
    if matches.passages:
        end = offset + len(matches.passages)
        further = "" if matches.next_offset is None else f"; go on with --offset {end}"
        note(f"passages {offset + 1} to {end} of {matches.total}{further}")
    else:
        note(f"no passage of {matches.passages_read} has these words, as they are written")
    if matches.is_truncated:
        note("the workspace has more than one search reads: see --document")


def read(
    chunk_id: Annotated[
        str, typer.Argument(metavar="CHUNK", help="The passage, as `find` names it.")
    ],
    before: Annotated[int, typer.Option("--before", min=0, max=50, help="Passages before it.")] = 1,
    after: Annotated[int, typer.Option("--after", min=0, max=50, help="Passages behind it.")] = 1,
    as_of: AsOf = None,
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Read a passage with those before and behind it in its document, word for word."""
    with errors(as_json):
        neighbours = call_query_service(
            data,
            workspace,
            lambda client: client.passages_around(
                chunk_id, before=before, after=after, as_of=as_of
            ),
        )
        if as_json:
            print_json(neighbours.model_dump())
            return
        for passage in neighbours.passages:
            page = f", page {passage.page}" if passage.page else ""
            note(
                terminal.line(
                    f"{neighbours.file_path}, passage {passage.order + 1} of "
                    f"{neighbours.chunk_count}{page}"
                )
            )
            echo(passage.content)


def paths(
    source: Annotated[str, typer.Argument(metavar="ENTITY", help="Its name, as the graph has it.")],
    target: Annotated[str, typer.Argument(metavar="ENTITY", help="The other one.")],
    max_length: Annotated[
        int, typer.Option("--max-length", min=1, max=6, help="Relations of a path at most.")
    ] = 4,
    limit: Annotated[int, typer.Option("--limit", min=1, max=50, help="Paths at most.")] = 5,
    as_of: AsOf = None,
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Show the shortest paths between two entities, and what states each relation."""
    with errors(as_json):
        connections = call_query_service(
            data,
            workspace,
            lambda client: client.entity_paths(
                source, target, max_length=max_length, limit=limit, as_of=as_of
            ),
        )
        if as_json:
            print_json(connections.model_dump())
            return
        for path in connections.paths:
            _show_path(path)
        if not connections.paths:
            note(f"no path of at most {max_length} relations leads from one to the other")
        if connections.is_truncated:
            note("there may be more: see --limit")


def _show_path(path: "EntityPath") -> None:
    echo(terminal.line(" — ".join(entity.name for entity in path.entities)))
    for relation in path.relations:
        files = ", ".join(relation.file_paths)
        text = f"{relation.source} — {relation.target}: {relation.description}  ({files})"
        echo(f"  {terminal.line(' '.join(text.split()))}")

"""`tag`: the tags of a document."""

from typing import TYPE_CHECKING, Annotated

import typer

from cli.client import call_query_service
from cli.common import DATA, WORKSPACE, Data, Json, Reason, Workspace, echo, errors, print_json
from cli.document_ids import document_id
from cli.terminal import line
from runtime.errors import InvalidInput

if TYPE_CHECKING:
    from lightstream_rag.client import AsyncLightstream
    from lightstream_rag.models import DocumentTagged


def tag(
    document: Annotated[str, typer.Argument(metavar="DOCUMENT", help="Its id or file name.")],
    tags: Annotated[
        list[str] | None, typer.Argument(metavar="TAG…", help="Its tags from now on.")
    ] = None,
    takes_all_away: Annotated[bool, typer.Option("--none", help="Take all tags away.")] = False,
    reason: Reason = "",
    data: Data = DATA,
    as_json: Json = False,
    workspace: Workspace = WORKSPACE,
) -> None:
    """Give a document these tags in place of those it has."""
    with errors(as_json):
        if bool(tags) == takes_all_away:
            raise InvalidInput("name the tags that it is to have, or take all away with --none")

        async def tagged(client: "AsyncLightstream") -> "DocumentTagged":
            id = await document_id(client, document)
            return await client.tag_document(id, tags or [], reason=reason)

        statement = call_query_service(data, workspace, tagged)
        if as_json:
            print_json(statement.model_dump(mode="json"))
            return
        words = ", ".join(map(line, statement.tags)) or "no tags"
        echo(f"{line(statement.document_id)}: {words}; in the log at {statement.sequence}")

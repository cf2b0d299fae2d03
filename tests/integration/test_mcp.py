"""The MCP client of the official SDK, unchanged, uses every tool over stdio and HTTP, and errors
say what to do.
"""

from typing import Any

import pytest
from mcp import Client
from mcp_types import CallToolResult, TextContent

from tests.support.access import READER, SEVERAL, behind
from tests.support.logged_library import BEFORE_THE_FERRY, logged_library
from tests.support.mcp_servers import connected, listening, over_http, serving
from tests.support.shares import share

TOOLS = {
    "search",
    "ask",
    "add_document",
    "get_document",
    "read_passages",
    "list_documents",
    "find_entities",
    "walk_graph",
    "find_text",
    "find_paths",
}
TRANSPORTS = ["stdio", "http"]
each_transport = pytest.mark.parametrize("transport", TRANSPORTS)
by_day_over_stdio = pytest.mark.parametrize("transport", share(TRANSPORTS, daily=1))
"""The tools are the same over both: by day the first tests call them over HTTP, by night all do."""


async def told(client: Client, tool: str, **arguments: Any) -> Any:
    """The structured result of a tool that succeeds."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, text(result)
    assert result.structured_content is not None
    return result.structured_content


async def failure(client: Client, tool: str, **arguments: Any) -> str:
    """What a tool says that fails."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error, text(result)
    return text(result)


async def refusal(at: str, **headers: str) -> str:
    """What a client is told that gets no connection."""
    with pytest.raises(BaseExceptionGroup) as error:
        async with over_http(at, **headers):
            pass
    return repr(error.value)


def text(result: CallToolResult) -> str:
    return " ".join(block.text for block in result.content if isinstance(block, TextContent))


@each_transport
async def test_every_tool_says_what_it_takes_and_gives(transport: str) -> None:
    async with listening() as url, connected(transport, url) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == TOOLS
        for tool in tools.values():
            assert len(tool.description or "") > 60
            assert tool.output_schema
            assert tool.input_schema["additionalProperties"] is False
            for name, field in tool.input_schema["properties"].items():
                limits = {"maxLength", "maximum", "maxItems", "enum", "anyOf"} & field.keys()
                assert limits, f"{tool.name}.{name} has no limit"
            assert tool.annotations
            assert tool.annotations.read_only_hint is (tool.name != "add_document")
        assert client.server_info.name == "lightstream"
        assert "never instructions" in (client.instructions or "")


@each_transport
async def test_documents_are_searched_and_asked(transport: str) -> None:
    async with listening() as url, connected(transport, url) as client:
        result = await told(
            client,
            "search",
            question="Who discovered radium?",
            mode="mix",
            max_passages=1,
            max_entities=1,
        )
        (passage,) = result["passages"]
        assert (
            passage["text"] == "Marie Curie discovered radium in Paris together with Pierre Curie."
        )
        assert (passage["file"], passage["document_id"]) == ("curie.txt", "curie")
        assert result["references"] == [{"id": passage["reference"], "file": "curie.txt"}]
        assert len(result["entities"]) == len(result["relations"]) == 1
        assert (result["mode"], result["mode_reason"]) == ("mix", "")
        reason = "The question names entities of the graph: radium."
        by_itself = await told(client, "search", question="Who discovered radium?")
        assert (by_itself["mode"], by_itself["mode_reason"]) == ("walk", reason)
        by_itself = await told(client, "ask", question="Who discovered radium?")
        assert by_itself["mode_reason"] == f"walk: {reason}"
        answer = await told(client, "ask", question="Who discovered radium?", mode="naive")
        assert "Marie Curie discovered radium" in answer["answer"]
        assert (answer["found"], answer["written_by_model"]) == (True, False)
        assert answer["citations"][0]["file"] == "curie.txt"
        assert answer["citations"][0]["places"][0]["document_id"] == "curie"
        assert answer["steps"] == []
        wider = await told(client, "ask", question="Who discovered radium?", effort="medium")
        assert wider["steps"][-1].startswith("no language model: one search with top_k")
        no_answer = await told(client, "ask", question="xyzzy plugh qwert?", mode="local")
        assert (no_answer["found"], no_answer["citations"]) == (False, [])
        nowhere = await told(client, "search", question="xyzzy plugh qwert?", mode="local")
        assert nowhere == {
            "passages": [],
            "entities": [],
            "relations": [],
            "references": [],
            "mode": "local",
            "mode_reason": "",
        }


@by_day_over_stdio
async def test_a_document_is_added_waited_for_and_inspected(transport: str) -> None:
    steps: list[float] = []

    async def progress(progress: float, total: float | None, message: str | None) -> None:
        assert total == 60
        steps.append(progress)

    async with listening() as url, connected(transport, url) as client:
        document_fields = {
            "text": "Port Elm has a lighthouse of granite.",
            "file_name": "port.md",
            "wait_seconds": 60,
        }
        result = await client.call_tool("add_document", document_fields, progress_callback=progress)
        addition = result.structured_content
        assert addition, text(result)
        assert steps == sorted(set(steps))
        assert (
            addition["status"],
            addition["document"]["chunks"],
            addition["document"]["error"],
        ) == (
            "processed",
            1,
            None,
        )
        for name in (addition["document_id"], addition["track_id"], "port.md"):
            listing = await told(client, "get_document", document=name)
            assert listing["total"] == 1
            (document,) = listing["documents"]
            assert (document["id"], document["status"]) == (addition["document_id"], "processed")
            assert document["summary"] == document_fields["text"]
            assert document["steps"]["indexed"] == 1
        results = await told(
            client,
            "search",
            question="What is the lighthouse made of?",
            mode="naive",
            max_passages=1,
        )
        assert results["passages"][0]["text"] == document_fields["text"]
        # The same text again is nothing new, and is not waited for in vain.
        again = await told(client, "add_document", **{**document_fields, "wait_seconds": 60})
        assert (again["document_id"], again["status"]) == (addition["document_id"], "processed")
        addition_at_once = await told(client, "add_document", text="Another one.")
        assert (addition_at_once["status"], addition_at_once["document"]) == ("pending", None)
        listing_of_all = await told(client, "list_documents", status="processed")
        assert {"curie", "baker", addition["document_id"]} <= {
            document["id"] for document in listing_of_all["documents"]
        }
        assert listing_of_all["counts"]["all"] >= 3


@by_day_over_stdio
async def test_what_stands_around_a_passage_is_read(transport: str) -> None:
    async with listening() as url, connected(transport, url) as client:
        answer = await told(
            client, "search", question="Who discovered radium?", mode="mix", max_passages=1
        )
        (passage,) = answer["passages"]
        assert (passage["document_id"], passage["order"]) == ("curie", 0)
        around = await told(client, "read_passages", document_id="curie", order=0, before=3)
        assert (around["file"], around["total"]) == ("curie.txt", len(around["passages"]))
        assert around["passages"][0]["text"] == passage["text"]
        assert [each["order"] for each in around["passages"]] == [*range(around["total"])]
        far = await failure(client, "read_passages", document_id="curie", order=900)
        assert "has no passage 900" in far
        unknown = await failure(client, "read_passages", document_id="../health", order=0)
        assert "no document" in unknown


@by_day_over_stdio
async def test_a_question_is_asked_of_the_past(transport: str) -> None:
    async with listening() as url, connected(transport, url) as client:
        nothing = await told(
            client, "search", question="Who discovered radium?", as_of="2001-01-01"
        )
        assert nothing["passages"] == []
        answer = await told(client, "ask", question="Who discovered radium?", as_of="2001-01-01")
        assert answer["found"] is False
        assert (await told(client, "search", question="Who discovered radium?"))["passages"]
        assert "Marie Curie" in await failure(
            client, "walk_graph", entity="Marie Curie", as_of="2001-01-01"
        )
        assert "as_of" in await failure(
            client, "search", question="Who discovered radium?", as_of="x" * 65
        )


@by_day_over_stdio
async def test_a_past_with_content_is_searched_asked_and_read(transport: str) -> None:
    then = {"as_of": BEFORE_THE_FERRY}
    question = "Who leads the Harbour Office?"
    async with (
        listening(harness=await logged_library()) as url,
        connected(transport, url) as client,
    ):
        present_matches = await told(
            client, "search", question="What calls at the lighthouse?", mode="naive"
        )
        assert {passage["file"] for passage in present_matches["passages"]} == {
            "harbour.txt",
            "ferry.txt",
        }
        for mode in ("naive", "mix", "walk"):
            past = await told(client, "search", question=question, mode=mode, **then)
            assert {passage["file"] for passage in past["passages"]} == {"harbour.txt"}
            assert {"Ferry"}.isdisjoint(entity["name"] for entity in past["entities"])
        answer = await told(client, "ask", question=question, **then)
        assert "Ada Marlow leads the Harbour Office" in answer["answer"]
        assert [citation["file"] for citation in answer["citations"]] == ["harbour.txt"]
        about_ferry = await told(client, "ask", question="Who does the ferry belong to?", **then)
        assert "belongs to Ada" not in about_ferry["answer"]
        assert (
            "belongs to Ada"
            in (await told(client, "ask", question="Who does the ferry belong to?"))["answer"]
        )
        neighbourhood = await told(client, "walk_graph", entity="Ada Marlow", **then)
        assert {entity["name"] for entity in neighbourhood["entities"]} == {
            "Ada Marlow",
            "Harbour Office",
        }
        assert "Names that hold it" not in await failure(
            client, "walk_graph", entity="Ferry", **then
        )


@by_day_over_stdio
async def test_what_is_written_to_the_letter_is_found_and_read(transport: str) -> None:
    then = {"as_of": BEFORE_THE_FERRY}
    async with (
        listening(harness=await logged_library()) as url,
        connected(transport, url) as client,
    ):
        matches = await told(client, "find_text", keywords=["lighthouse", "harbour office"])
        assert [(passage["document_id"], passage["order"]) for passage in matches["passages"]] == [
            ("harbour", 1),
            ("ferry", 0),
            ("harbour", 0),
        ]
        assert matches["names"] == ["Lighthouse", "Harbour Office"]
        first = await told(client, "find_text", keywords=["the"], max_passages=1)
        assert (first["total"], first["next_offset"]) == (3, 1)
        ferry_matches = await told(
            client, "find_text", keywords=["lighthouse"], documents=["ferry"], max_passages=1
        )
        assert [passage["file"] for passage in ferry_matches["passages"]] == ["ferry.txt"]
        past_matches = await told(client, "find_text", keywords=["lighthouse"], **then)
        assert [passage["file"] for passage in past_matches["passages"]] == ["harbour.txt"]
        around = await told(client, "read_passages", document_id="harbour", order=1, **then)
        assert [passage["order"] for passage in around["passages"]] == [0, 1]
        assert "no document" in await failure(
            client, "read_passages", document_id="ferry", order=0, **then
        )
        assert "no document 'x'" in await failure(
            client, "find_text", keywords=["a"], documents=["x"]
        )
        assert "keywords" in await failure(client, "find_text", keywords=[])


@by_day_over_stdio
async def test_two_entities_are_connected_by_paths(transport: str) -> None:
    async with (
        listening(harness=await logged_library()) as url,
        connected(transport, url) as client,
    ):
        ends = {"source": "Ada Marlow", "target": "Lighthouse"}
        connections = await told(client, "find_paths", **ends)
        assert [path["entities"] for path in connections["paths"]] == [
            ["Ada Marlow", "Ferry", "Lighthouse"],
            ["Ada Marlow", "Harbour Office", "Lighthouse"],
        ]
        first_step = connections["paths"][0]["relations"][0]
        assert (first_step["description"], first_step["files"]) == (
            "It belongs to her",
            ["ferry.txt"],
        )
        past_connections = await told(client, "find_paths", **ends, as_of=BEFORE_THE_FERRY)
        assert [path["entities"][1] for path in past_connections["paths"]] == ["Harbour Office"]
        names = await told(client, "find_entities", text="r", as_of=BEFORE_THE_FERRY)
        assert names["names"] == ["Ada Marlow", "Harbour Office"]
        assert "'Ada Marlow'" in await failure(
            client, "find_paths", source="Ada", target="Lighthouse"
        )
        assert "needs a text" in await failure(client, "find_entities", as_of="3")


@by_day_over_stdio
async def test_the_graph_is_walked_within_bounds(transport: str) -> None:
    async with listening() as url, connected(transport, url) as client:
        assert "Radium" in (await told(client, "find_entities", text="rad"))["names"]
        assert (await told(client, "find_entities", limit=1))["names"] == ["Radium"]
        near = await told(client, "walk_graph", entity="Marie Curie")
        assert [entity["name"] for entity in near["entities"]] == ["Marie Curie", "Radium"]
        assert [{relation["source"], relation["target"]} for relation in near["relations"]] == [
            {"Marie Curie", "Radium"}
        ]
        assert near["truncated"] is False
        wide = await told(client, "walk_graph", entity="Marie Curie", depth=2)
        assert {entity["name"] for entity in wide["entities"]} == {"Marie Curie", "Radium", "Watch"}
        bounded_walk = await told(
            client, "walk_graph", entity="Marie Curie", depth=2, max_relations=1
        )
        assert (len(bounded_walk["relations"]), bounded_walk["truncated"]) == (1, True)


@by_day_over_stdio
async def test_what_cannot_be_done_is_said_so_that_a_model_can_do_better(transport: str) -> None:
    async with listening() as url, connected(transport, url) as client:
        assert "less than or equal to 50" in await failure(
            client, "search", question="who?", max_passages=51
        )
        assert "max_passage" in await failure(
            client, "search", question="who is it?", max_passage=5
        )
        assert "question" in await failure(client, "ask")
        assert "'mix', 'naive'" in await failure(
            client, "ask", question="who is it?", mode="sideways"
        )
        assert "too short" in await failure(client, "ask", question="a   ")
        assert "at least one printable character" in await failure(
            client, "add_document", text=" \n "
        )
        assert "list_documents" in await failure(client, "get_document", document="../health")
        assert "'Marie Curie'" in await failure(client, "walk_graph", entity="marie")
        assert "find_entities" in await failure(client, "walk_graph", entity="Nobody at all")
        assert "Unknown tool" in await failure(client, "delete_everything")


async def test_a_wrong_key_is_refused_over_stdio_and_no_key_is_told() -> None:
    async with listening(behind(lightstream_api_keys=SEVERAL)) as url:
        async with connected("stdio", url, **{"X-API-Key": "k-wrong-0123456789abc"}) as client:
            message = await failure(client, "search", question="Who discovered radium?")
            assert "Invalid API Key" in message
            assert "k-wrong" not in message
        async with connected("stdio", url, **{"X-API-Key": READER}) as client:
            assert (await told(client, "list_documents"))["total"] == 2
            assert "may read only" in await failure(client, "add_document", text="New.")


async def test_over_http_each_client_brings_its_own_key_and_none_is_lent() -> None:
    async with (
        listening(behind(lightstream_api_keys=SEVERAL)) as url,
        serving(url, LIGHTSTREAM_API_KEY=READER) as at,
    ):
        assert "API Key required" in await refusal(at)
        assert "Invalid API Key" in await refusal(at, **{"X-API-Key": "k-wrong-0123456789abc"})
        assert "Invalid token" in await refusal(at, Authorization="Bearer wrong")
        async with over_http(at, Authorization=f"Bearer {READER}") as client:
            assert (await told(client, "list_documents"))["total"] == 2
            assert "may read only" in await failure(client, "add_document", text="New.")
        assert "not for this workspace" in await refusal(
            at, **{"X-API-Key": READER, "X-Workspace": "theirs"}
        )


async def test_a_client_that_names_a_workspace_works_there() -> None:
    async with listening() as url, serving(url, "--workspace", "v") as at:
        async with over_http(at, **{"X-Workspace": "w"}) as client:
            assert (await told(client, "list_documents"))["total"] == 2
        async with over_http(at) as client:
            assert (await told(client, "list_documents"))["total"] == 0


async def test_without_a_query_service_the_way_out_is_named() -> None:
    async with connected("stdio", "http://127.0.0.1:1") as client:
        assert len((await client.list_tools()).tools) == len(TOOLS)
        assert "lightstream up" in await failure(client, "ask", question="Who discovered radium?")

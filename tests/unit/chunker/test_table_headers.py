"""Long tables of Markdown texts repeat their header in the passages, whichever way they came."""

import io
import sys
from collections.abc import Iterator, Sequence
from itertools import accumulate
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from operations.documents import find_documents, read_document
from runtime.parsing.files import parse
from runtime.text.table_headers import with_repeated_headers
from tests.support.events import added
from tests.support.querying import QueryHarness
from tests.unit.chunker.test_handler import cut
from tests.unit.gateway.documents.test_uploads import added as published
from tests.unit.gateway.test_api import client

ROWS = [f"| ship {number} | berth {number} | {'x' * 40} |" for number in range(40)]
HEADER = "| Ship | Berth \\| place | Note |"
TABLE = "\n".join([HEADER, "|:--|--:|---|", *ROWS])
PAGE = "\n".join(
    [
        "<table><tr><th>Ship<th>Berth | place<th>Note</tr>",
        *(f"<tr><td>{row[2:-2].replace(' | ', '<td>')}</tr>" for row in ROWS),
        "</table>",
    ]
)


def repeated(text: str, size: int = 0, places: Sequence[int] = ()) -> tuple[str, list[int]]:
    """The text with repeated headers, read in pieces of this size; all at once without one."""
    size = size or len(text) or 1
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    starts = list(accumulate(map(len, pieces), initial=0))

    def with_places() -> Iterator[tuple[str, list[int]]]:
        for start, piece in zip(starts, pieces, strict=False):
            yield piece, [place for place in places if start <= place < start + len(piece)]
        yield "", [place for place in places if place >= len(text)]

    results = list(with_repeated_headers(with_places()))
    return "".join(text for text, _ in results), [at for _, here in results for at in here]


async def sent_over_http(text: str, **fields: Any) -> str:
    harness = QueryHarness()
    async with client(harness.app()) as api:
        answer: httpx.Response = await api.post("/documents/text", json={"text": text, **fields})
    assert answer.status_code == 200
    [event] = published(harness)
    return event.text or ""


async def given_to_the_command_line(text: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(text.encode())))
    return (await read_document(find_documents(["-"]).sources[0])).text


@pytest.mark.parametrize("way", ["bus", "http", "stdin", "upload", "page", "intake"])
async def test_each_way_into_the_log_leads_to_passages_whose_rows_have_their_header(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = f"Above\n\n{TABLE}\n\nBelow"
    if way == "http":
        text = await sent_over_http(text)
    elif way == "stdin":
        text = await given_to_the_command_line(text, monkeypatch)
    elif way == "upload":
        text = (await parse(text.encode(), "ships.md")).text
    elif way == "intake":
        text = (await parse(text.encode(), "ships.txt")).text
    elif way == "page":
        text = (await parse(f"<p>Above</p>{PAGE}<p>Below</p>".encode(), "ships.html")).text
    events = await cut(added("d", text), size=900, overlap=0)
    passages = [chunk.content for event in events for chunk in event.chunks]
    assert len(passages) > 2
    assert all(HEADER in passage for passage in passages[:-1])
    lines = [line for passage in passages for line in passage.splitlines()]
    whole_rows = [line for line in lines if line in ROWS]
    assert len(whole_rows) >= len(ROWS) - len(passages), "the windows cut a row in two at most"


@pytest.mark.parametrize("size", [0, 1, 7, 1000])
def test_each_block_has_the_header_and_all_rows_stay_in_their_order(size: int) -> None:
    text, _ = repeated(f"Above\n\n{TABLE}\n\nBelow", size)
    above, *blocks, below = text.split("\n\n")
    assert (above, below) == ("Above", "Below")
    assert len(blocks) > 3
    assert {block.splitlines()[0] for block in blocks} == {HEADER}
    assert [row for block in blocks for row in block.splitlines()[2:]] == ROWS
    assert repeated(text, size)[0] == text, "a text that has its headers stays as it is"


@pytest.mark.parametrize("size", [0, 5])
def test_places_in_the_text_move_with_it(size: int) -> None:
    text = f"Above\n\n{TABLE}\n\nBelow"
    words = ["Above", "ship 0 ", "ship 20 ", "ship 39 ", "Below"]
    places = [*map(text.index, words), len(text)]
    result, moved_places = repeated(text, size, places)
    assert moved_places == [*map(result.index, words), len(result)]


def test_two_rows_that_name_the_columns_become_one_header() -> None:
    rows = [f"| port {number} | {number} | {2 * number} | 7 |" for number in range(100)]
    names = ["| Port | 2024 | | 2025 |", "|---|---|---|---|", "| | Spring | Autumn | Spring |"]
    text = "\r\n".join([*names, *rows])
    result, (place,) = repeated(text, places=[text.index("port 3 ")])
    blocks = result.split("\n\n")
    heads = {block.splitlines()[0] for block in blocks}
    assert heads == {"| Port | 2024 Spring | 2024 Autumn | 2025 Spring |"}
    assert result[place:].startswith("port 3 ")


LINES = "\n".join(f"| {number} | {'x' * 40} |" for number in range(40))


@pytest.mark.parametrize(
    "text",
    [
        f"````\n```\n| a | b |\n| --- | --- |\n{LINES}\n````\n",
        f"~~~\n| a | b |\n| --- | --- |\n{LINES}",
        f"    | a | b |\n    | --- | --- |\n    {LINES}",
        f"> | a | b |\n> | --- | --- |\n{LINES}",
        f"| a | b | c |\n| --- | --- |\n{LINES}",
        f"{'-' * 200_000} |\n{'-' * 200_000}x|\n",
        f"| a | b |\n| --- | --- |\n| {'x' * 200_000} | y |\n| 1 | 2 |",
        "| a | b |\n| --- | --- |\n| 1 | short |\n",
        "| a | b |\n| --- | --- |",
        " id | name\n----+-----\n  1 | Ada\n" * 40,
        "a || b\n" * 400,
        "",
    ],
)
@pytest.mark.parametrize("size", [0, 1000])
def test_what_is_no_long_table_stays_as_it_is(text: str, size: int) -> None:
    assert repeated(text, size)[0] == text


def test_the_longest_headers_do_no_more_than_double_a_text() -> None:
    for names in (["name " * 400, "b"], ["n"] * 200, ["名" * 600, "b"]):
        table = [f"| {' | '.join(names)} |", f"|{'-|' * len(names)}"]
        table += [f"| {' | '.join(['y' * 9] * len(names))} |" for _ in range(2000)]
        text = "\n".join(table)
        result, _ = repeated(text)
        assert result.count(names[0]) > 2
        assert len(result.encode()) <= 2 * len(text.encode())

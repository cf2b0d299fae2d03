"""One file of each kind in a folder: all are added, and each is what answers a question about
it.
"""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from docx import Document
from pptx import Presentation

from runtime.parsing.kinds import KINDS, PLAIN, VARIANTS
from tests.support import office_files as office
from tests.support.office_variants import saved_as
from tests.support.open_document_files import CELL, odp, ods
from tests.support.pdf_files import pdf
from tests.support.scans import file_of, scan
from tests.support.stack import Stack

WORKSPACE = "kinds"


def people(who: str, trade: str) -> str:
    return f"{who} is a {trade} of Port Elm."


def word() -> bytes:
    document = Document()
    document.add_heading("Trades", 1)
    document.add_paragraph(people("Gideon Ashby", "cooper"))
    return office.saved(document)


PRICES = [
    ["Good", "Price in crowns", "Seller"],
    *([f"Good {n}", n, f"Stall {n}"] for n in range(300)),
]

EMAIL = f"""From: Ada Marlow <ada@harbour.example>
To: Hector Vane <hector@harbour.example>
Subject: The new post
MIME-Version: 1.0
Content-Type: text/plain; charset=utf-8

{people("Rosa Quill", "letter carrier")}
"""
SAVED_PAGE = EMAIL.replace("text/plain", "text/html").replace("Rosa Quill", "{name}")
NOTEBOOK = {
    "cells": [
        {
            "cell_type": "markdown",
            "id": "a",
            "metadata": {},
            "source": people("Tom Reef", "diver"),
        }
    ],
    "metadata": {},
    "nbformat": 4,
    "nbformat_minor": 5,
}

SHEET = (
    "<table:table "
    f"table:name='Crew'><table:table-row>{CELL.format('Name')}{CELL.format('Trade')}</table:table-row>"
    f"<table:table-row>{CELL.format('Ned Sloan')}{CELL.format('weir keeper')}</table:table-row></table:table>"  # noqa: E501
)
SLIDE = (
    f"<draw:page><draw:frame><draw:text-box><text:p>{people('Jon Ferris', 'dock master')}</text:p>"
    "</draw:text-box></draw:frame></draw:page>"
)

VARIANT_NAMES = (
    *("Abel", "Bess", "Carl", "Dora", "Evan", "Fay", "Glen"),
    *("Hope", "Ivor", "June", "Kurt", "Lara", "Mark", "Nell"),
)


def word_of(who: str) -> bytes:
    document = Document()
    document.add_paragraph(people(who, "tallyman"))
    return office.saved(document)


def slides_of(who: str) -> bytes:
    deck: Any = Presentation()
    deck.slides.add_slide(deck.slide_layouts[5]).shapes.title.text = people(who, "tallyman")
    return office.saved(deck)


VARIANT_FILES: dict[str, Callable[[str], bytes]] = {
    "docx": word_of,
    "pptx": slides_of,
    "xlsx": lambda who: office.xlsx({"Crew": [["Name"], [people(who, "tallyman")]]}),
    "odt": lambda who: office.odt(f"<text:p>{people(who, 'tallyman')}</text:p>"),
    "ods": lambda who: ods(SHEET.replace("Ned Sloan", who).replace("weir keeper", "tallyman")),
    "odp": lambda who: odp(SLIDE.replace("Jon Ferris", who).replace("dock master", "tallyman")),
}
"""What makes a file that says of somebody what they do, by the parser that reads it."""


def variants() -> dict[str, tuple[bytes, str, str]]:
    """One file of each variant of the Office files, about somebody of its own."""
    files: dict[str, tuple[bytes, str, str]] = {}
    for name, (suffix, kind) in zip(VARIANT_NAMES, VARIANTS.items(), strict=True):
        who = f"{name} Holm"
        data = saved_as(suffix, VARIANT_FILES[str(kind.parser)](who))
        files[f"{name.lower()}{suffix}"] = (data, f"Who is {who}?", "tallyman")
    return files


FILES: dict[str, tuple[bytes, str, str]] = {
    "chart.md": (
        b"# Charts\n\n" + people("Ada Marlow", "chartmaker").encode(),
        "Who is Ada Marlow?",
        "chartmaker",
    ),
    "sail.txt": (
        people("Hector Vane", "sailmaker").encode("utf-16"),
        "Who is Hector Vane?",
        "sailmaker",
    ),
    "rope.rst": (
        b"Ropes\n=====\n\n" + people("Celia Finch", "ropemaker").encode(),
        "Who is Celia Finch?",
        "ropemaker",
    ),
    "tar.html": (
        f"<h1>Tar</h1><p>{people('Milo Croft', 'tar boiler')}".encode(),
        "Who is Milo Croft?",
        "tar boiler",
    ),
    "net.htm": (f"<p>{people('Nora Gale', 'netmaker')}".encode(), "Who is Nora Gale?", "netmaker"),
    "pier.pdf": (
        pdf(people("Otto Dunn", "pile driver"), "A second page."),
        "Who is Otto Dunn?",
        "pile driver",
    ),
    "cask.docx": (word(), "Who is Gideon Ashby?", "cooper"),
    "plan.pptx": (
        office.pptx(),
        "What does the Harbour plan say about the basin?",
        "Dredge the basin",
    ),
    "prices.xlsx": (
        office.xlsx({"Market": PRICES}),
        "Who is the seller of Good 271?",
        "| Good 271 | 271 | Stall 271",
    ),
    "crew.csv": (
        b"Sailor;Ship\nRuth Thorn;Grey Gull\nIvan Pike;Blue Heron\n",
        "Who is Ruth Thorn?",
        "Grey Gull",
    ),
    "dues.tsv": (
        b"Ship\tDue\nBlue Heron\t12 crowns\n",
        "What is the due of the Blue Heron?",
        "12 crowns",
    ),
    "office.json": (
        b'{"office": {"head": "Zoe North", "desk": 7}}',
        "Who is Zoe North?",
        "head: Zoe North",
    ),
    "moor.odt": (
        office.odt(f"<text:p>{people('Pit Hale', 'moorer')}</text:p>"),
        "Who is Pit Hale?",
        "moorer",
    ),
    "tide.epub": (
        office.epub(people("Wanda Frost", "tide reader")),
        "Who is Wanda Frost?",
        "tide reader",
    ),
    "weir.ods": (ods(SHEET), "Who is Ned Sloan?", "weir keeper"),
    "dock.odp": (odp(SLIDE), "Who is Jon Ferris?", "dock master"),
    "post.mbox": (
        b"From a@b Mon Jan  1 00:00:00 2024\n" + EMAIL.replace("Rosa Quill", "Amos Pell").encode(),
        "Who is Amos Pell?",
        "letter carrier",
    ),
    "map.svg": (
        f"<svg><text>{people('Eda Lorne', 'map drawer')}</text></svg>".encode(),
        "Who is Eda Lorne?",
        "map drawer",
    ),
    "seal.rtf": (
        b"{\\rtf1 " + people("Lena Brook", "cutter").encode() + b"}",
        "Who is Lena Brook?",
        "cutter",
    ),
    "crane.py": (
        b"# " + people("Basil Moor", "crane driver").encode(),
        "Who is Basil Moor?",
        "crane driver",
    ),
    "lamp.unheard": (
        people("Irma Stone", "lamp lighter").encode(),
        "Who is Irma Stone?",
        "lamp lighter",
    ),
    "letter.eml": (EMAIL.encode(), "Who is Rosa Quill?", "letter carrier"),
    "news.mht": (
        SAVED_PAGE.replace("{name}", "Hugo Lind").encode(),
        "Who is Hugo Lind?",
        "letter carrier",
    ),
    "board.mhtml": (
        SAVED_PAGE.replace("{name}", "Olga Birch").encode(),
        "Who is Olga Birch?",
        "letter carrier",
    ),
    "depth.ipynb": (json.dumps(NOTEBOOK).encode(), "Who is Tom Reef?", "diver"),
    "sign.png": (
        file_of(scan([people("Ursula Penn", "sign painter")], 0.5, (1000, 260))),
        "Who is Ursula Penn?",
        "sign painter",
    ),
    "log.jsonl": (
        b'{"ship": "Old Salt", "arrived": "in May"}\n',
        "When has the Old Salt arrived?",
        "arrived: in May",
    ),
    **variants(),
}


@pytest.fixture(scope="module")
def documents(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """The documents of the folder as their status shows them, by name."""
    folder = tmp_path_factory.mktemp("files")
    for name, (data, _, _) in FILES.items():
        (folder / name).write_bytes(data)
    added = stack.json("add", str(folder), "--wait", "--workspace", WORKSPACE)
    assert (len(added["added"]), added["refused"], added["skipped"]) == (len(FILES), [], [])
    return {document["file_path"]: document for document in added["documents"]}


def test_there_is_a_file_of_every_kind() -> None:
    """Of every one that has a parser of its own, and of some that are text."""
    assert {Path(name).suffix for name in FILES} >= {
        suffix for suffix, kind in KINDS.items() if kind.parser and not kind.is_picture
    }


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_each_kind_is_processed_and_described(
    documents: dict[str, dict[str, Any]], name: str
) -> None:
    data = FILES[name][0]
    document = documents[name]
    assert document["status"] == "processed", document["error_msg"]
    described = {
        key: value for key, value in document["metadata"].items() if "file" in key or "media" in key
    }
    assert described == {
        "file_name": name,
        "media_type": KINDS.get(Path(name).suffix, PLAIN).media_type,
        "file_size": len(data),
        "file_sha256": hashlib.sha256(data).hexdigest(),
    }


@pytest.mark.parametrize("name", FILES)
def test_a_question_about_a_file_finds_its_passages(
    stack: Stack, documents: dict[str, dict[str, Any]], name: str
) -> None:
    _, question, event = FILES[name]
    with stack.client(WORKSPACE) as client:
        result = client.post("/query/data", json={"query": question}).json()["data"]
    passages = "\n".join(
        chunk["content"] for chunk in result["chunks"] if chunk["file_path"] == name
    )
    assert event in passages, json.dumps(result, indent=1)[:3000]


@pytest.mark.parametrize(
    ("question", "row"),
    [
        (
            "Who is the seller of Good 271?",
            "Good: Good 271; Price in crowns: 271; Seller: Stall 271",
        ),
        ("Who is Ruth Thorn?", "Sailor: Ruth Thorn; Ship: Grey Gull"),
    ],
)
def test_a_row_is_quoted_with_the_names_of_its_columns(
    stack: Stack, documents: dict[str, Any], question: str, row: str
) -> None:
    assert row in stack.json("ask", question, "--workspace", WORKSPACE)["response"]


def test_the_same_folder_again_adds_nothing(
    stack: Stack, documents: dict[str, Any], tmp_path: Path
) -> None:
    for name, (data, _, _) in FILES.items():
        (tmp_path / name).write_bytes(data)
    again = stack.json("add", str(tmp_path), "--workspace", WORKSPACE)
    assert (len(again["added"]), len(again["unchanged"])) == (0, len(FILES))

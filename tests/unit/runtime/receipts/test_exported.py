"""The file of a receipt verifies by itself, and whatever is changed in it is found."""

import asyncio
import copy
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from cli.main import app
from cli.receipt_files import verify_files
from contracts.ids import sha256
from runtime.bus.feed.memory import MemoryEventFeed
from runtime.errors import InvalidInput
from runtime.receipts.exported import ChainExcerpt, ChainPart, ExportedReceipt, canonical, exported
from runtime.receipts.period import exported_period, read_export
from runtime.receipts.reading import ReceiptFilter, StoredReceipt, newest_receipts
from services.query.visibility.viewer import Viewer
from tests.support.querying import CURIE, library_of_two
from tests.support.questions import local_questions, question, receipts_of

QUESTION = "Who discovered radium?"
BEFORE, AFTER = sha256("the link before"), sha256("the leaf behind")
PASSAGE = "curie-chunk-000"


async def _receipt(form: str) -> StoredReceipt:
    harness = await library_of_two()
    receipts = receipts_of(harness, form)
    viewer = Viewer.of(["user:ann", "group:legal"])
    await local_questions(harness, receipts).ask(question(QUESTION, viewer=viewer))
    await receipts.publish()
    (receipt,) = await newest_receipts(MemoryEventFeed(harness.log), "w", ReceiptFilter(), 0, 1)
    return receipt


@cache
def receipt_file(form: str = "full") -> str:
    """The file of a receipt in the midst of the chain, with the text of one passage."""
    receipt = asyncio.run(_receipt(form))
    leaves = [receipt.leaf, AFTER]
    end = sha256(sha256(BEFORE + receipt.leaf) + AFTER)
    chain = ChainExcerpt(before=BEFORE, leaves=leaves, place=0, after=end)
    return exported(receipt, chain, {PASSAGE: CURIE[0]})


@cache
def period_file() -> str:
    """The file of two receipts with another leaf between them."""
    receipts = [asyncio.run(_receipt(form)) for form in ("full", "hashes")]
    leaves = [receipts[0].leaf, AFTER, receipts[1].leaf]
    end = BEFORE
    for leaf in leaves:
        end = sha256(end + leaf)
    chain = ChainPart(before=BEFORE, leaves=leaves, after=end)
    return exported_period(receipts, chain, [0, 2], [{PASSAGE: CURIE[0]}, {}])


def problems(text: str) -> list[str]:
    """What is wrong with a file."""
    try:
        return read_export(text.encode()).verify().problems
    except InvalidInput as error:
        return [str(error)]


@pytest.mark.parametrize("form", ["full", "hashes"])
def test_a_file_verifies_by_itself(form: str) -> None:
    file = ExportedReceipt.of(receipt_file(form).encode())
    findings = file.verify()
    assert findings.problems == []
    assert (QUESTION in receipt_file(form)) is (form == "full")
    assert file.name_of_text(QUESTION) == "the question"
    assert file.name_of_text(CURIE[0]) == f"passage {PASSAGE}"
    assert file.name_of_text("something else") == ""
    chain = file.file.proof.chain
    assert chain.has_link(sha256(BEFORE + file.receipt.leaf))
    assert chain.has_link(findings.chain)
    assert not chain.has_link(BEFORE)


def test_the_graph_says_who_asked_for_whom_and_on_what_the_answer_rests() -> None:
    nodes = {node["@id"]: node for node in json.loads(receipt_file())["@graph"]}
    (activity,) = [node for node in nodes.values() if node["@type"] == "prov:Activity"]
    answer = nodes[f"{activity['@id']}#answer"]
    sources = [nodes[reference["@id"]] for reference in answer["prov:wasDerivedFrom"]]
    assert PASSAGE in [node.get("lightstream:passage") for node in sources]
    assert "Radium" in [node.get("lightstream:name") for node in sources]
    names = {node["lightstream:name"] for node in nodes.values() if "prov:Agent" in node["@type"]}
    assert names == {"user:ann", "group:legal"}


def scalars(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places of all values that are neither objects nor lists."""
    if isinstance(value, dict):
        for name, member in cast("dict[str, Any]", value).items():
            yield from scalars(member, (*path, name))
    elif isinstance(value, list):
        for number, member in enumerate(cast("list[Any]", value)):
            yield from scalars(member, (*path, number))
    else:
        yield path


def another_value(value: Any) -> Any:
    """Another value of the same kind."""
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case str() if value:
            return value[:-1] + ("0" if value[-1] != "0" else "1")
        case _:
            return "x"


PLACES = list(scalars(json.loads(receipt_file())))
PERIOD_PLACES = [
    path
    for number, path in enumerate(scalars(json.loads(period_file())))
    if path[0] == "proof" or path[-1] == "@id" or number % 9 == 0
]
"""A share: a file of a single receipt has each kind of value."""


def with_new_hash(document: dict[str, Any]) -> dict[str, Any]:
    """The file with the hash that it should have as it is now."""
    del document["proof"]["sha256"]
    document["proof"]["sha256"] = sha256(canonical(document))
    return document


def test_a_file_of_several_receipts_verifies_by_itself() -> None:
    file = read_export(period_file().encode())
    findings = file.verify()
    assert (findings.receipts, findings.problems) == (2, [])
    assert file.has_link(findings.chain)
    assert not file.has_link(sha256(BEFORE + AFTER))
    assert file.name_of_text(QUESTION).startswith("the question of ")
    first, second = json.loads(period_file())["@graph"]
    assert first["@graph"] != second["@graph"]
    swapped = json.loads(period_file())
    swapped["@graph"] = [second, first]
    assert problems(json.dumps(with_new_hash(swapped)))
    repeated = json.loads(period_file())
    for entries in (repeated["@graph"], repeated["proof"]["receipts"]):
        entries.append(entries[0])
    assert problems(json.dumps(with_new_hash(repeated)))


@pytest.mark.parametrize("is_rehashed", [False, True])
@pytest.mark.parametrize(
    ("text", "paths"), [(receipt_file(), PLACES), (period_file(), PERIOD_PLACES)]
)
def test_a_value_that_was_changed_is_found_even_with_another_hash_of_the_file(
    text: str, paths: list[tuple[Any, ...]], *, is_rehashed: bool
) -> None:
    original = json.loads(text)
    for path in paths:
        if is_rehashed and path == ("proof", "sha256"):
            continue
        document = copy.deepcopy(original)
        parent = document
        for step in path[:-1]:
            parent = parent[step]
        parent[path[-1]] = another_value(parent[path[-1]])
        changed = json.dumps(with_new_hash(document) if is_rehashed else document)
        assert problems(changed), path


@given(st.data())
def test_a_byte_that_was_changed_is_found_or_changes_nothing(data: st.DataObject) -> None:
    file = bytearray(receipt_file().encode())
    file[data.draw(st.integers(0, len(file) - 1))] = data.draw(st.integers(0, 255))
    try:
        exported_receipt = ExportedReceipt.of(bytes(file))
    except InvalidInput:
        return
    if not exported_receipt.verify().problems:
        assert json.loads(file) == json.loads(receipt_file())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"proof": 1}',
        '{"proof": {"sha256": NaN}}',
        '{"proof": {"sha256": "\\ud800"}}',
        "[" * 100_000,
        receipt_file().replace('"format": 1', '"format": 2'),
        receipt_file().replace('"@graph"', '"@graph": [], "@graph"'),
        receipt_file().replace('"record": "', '"record": "x'),
    ],
)
def test_what_is_no_file_of_a_receipt_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        ExportedReceipt.of(text.encode())


def test_the_command_line_verifies_without_a_stack(tmp_path: Path) -> None:
    run = CliRunner().invoke
    file, forged, words = (tmp_path / name for name in ("r.jsonld", "forged.jsonld", "words.txt"))
    file.write_text(receipt_file(), encoding="utf-8")
    forged.write_text(receipt_file().replace("Curie", "Curio"), encoding="utf-8")
    words.write_text(f"{QUESTION}\n", encoding="utf-8")
    verify = ["receipts", "verify"]
    period = tmp_path / "period.jsonld"
    period.write_text(period_file(), encoding="utf-8")
    result = run(app, [*verify, str(period), "--text", str(words)])
    assert (result.exit_code, "2 receipts are as they were" in result.output) == (0, True)
    assert run(app, [*verify, str(file), "--text", str(words)]).exit_code == 0
    assert run(app, [*verify, str(file), "--chain", AFTER]).exit_code == 1
    result = run(app, [*verify, str(file), str(forged)])
    assert (result.exit_code, "is NOT as it was" in result.output) == (1, True)
    as_json = json.loads(run(app, [*verify, str(forged), "--json"]).output)
    assert as_json["files"][str(forged)]["problems"]
    for unusable in ([str(words)], [str(tmp_path / "none")], ["--chain", AFTER]):
        assert run(app, [*verify, *unusable]).exit_code == 2


def test_another_text_is_told_to_differ_while_the_receipt_is_as_it_was(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "receipt.jsonld"
    file.write_text(receipt_file(), "utf-8")
    texts = [tmp_path / "question.txt", tmp_path / "other.txt"]
    texts[0].write_text(QUESTION, "utf-8")
    texts[1].write_text("something else", "utf-8")
    assert verify_files([file], "", texts, as_json=False) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith(" is as it was")
    (fault,) = [line for line in lines if line.startswith("  WRONG")]
    assert "other.txt: its text differs" in fault
    assert verify_files([file], "", texts[:1], as_json=True) == 0

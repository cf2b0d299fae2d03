"""Golden questions in files: what is written is read again, and each fault is named by its line."""

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from operations.golden_files import FileFormat, format_questions, read_golden_file
from operations.junit_report import ReportedQuestion, junit_xml
from runtime.errors import InvalidInput

QUESTIONS: list[dict[str, Any]] = [
    {
        "id": "harbour-office",
        "question": 'Who leads the "Harbour Office", today?',
        "mode": "mix",
        "facts": ["Ada Marlow", "since 1987"],
        "documents": ["port.md"],
        "note": "每周",
    },
    {"question": "How deep is it?", "unanswerable": True},
]


@pytest.mark.parametrize("ending", ["jsonl", "csv", "yaml"])
def test_what_is_exported_can_be_imported(ending: FileFormat, tmp_path: Path) -> None:
    path = tmp_path / f"golden.{ending}"
    exported_questions = [{**question, "set_by": "ada", "latest": None} for question in QUESTIONS]
    path.write_text(format_questions(exported_questions, ending), "utf-8")
    assert read_golden_file(path) == QUESTIONS


def test_a_table_of_a_spreadsheet_is_read(tmp_path: Path) -> None:
    path = tmp_path / "golden.csv"
    path.write_bytes(
        b"\xef\xbb\xbfquestion,facts,unanswerable\r\nWho?,Ada; Bob,\r\nHow deep?,,YES\r\n"
    )
    assert read_golden_file(path) == [
        {"question": "Who?", "facts": ["Ada", "Bob"]},
        {"question": "How deep?", "unanswerable": True},
    ]


@pytest.mark.parametrize(
    ("name", "text", "faults"),
    [
        ("a.txt", "", ["end with .jsonl"]),
        ("a.jsonl", "", ["holds no question"]),
        ("a.jsonl", '{"question": "a", "facts": ["b"]}\n{oops', ["line 2: no JSON"]),
        ("a.jsonl", "[1]", ["line 1: each line is a JSON object"]),
        (
            "a.jsonl",
            '{"question": " "}\n\n{"question": "a", "fact": "b"}',
            ["line 1: `question` is missing", "line 3: 'fact' is no field", "line 3: say what"],
        ),
        ("a.jsonl", '{"question": "a", "facts": "b"}', ["line 1: `facts` must be a list"]),
        ("a.jsonl", '{"question": "a", "unanswerable": "no"}', ["must be true or false"]),
        ("a.csv", "question,facts\na,b,c\n", ["line 2: more cells than columns"]),
        ("a.csv", "question,unanswerable\na,perhaps\n", ["line 2: `unanswerable` must be"]),
        ("a.csv", 'question,facts\n"a,b\n', ["unexpected end of data"]),
        ("a.yaml", "question: a", ["line 1: the file is a list"]),
        ("a.yaml", "- question: a\n  facts: [b]\n- c\n", ["line 3: each entry has fields"]),
        ("a.yaml", "- question: [", ["no YAML"]),
        ("a.yaml", "- question: a\n  facts: [1907]\n", ["line 1: `facts` must be a list of texts"]),
    ],
)
def test_what_cannot_be_used_is_named_by_its_line(
    name: str, text: str, faults: list[str], tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(text, "utf-8")
    with pytest.raises(InvalidInput) as caught:
        read_golden_file(path)
    assert [fault for fault in faults if fault not in str(caught.value)] == []


def test_a_file_that_is_not_there_or_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    with pytest.raises(InvalidInput, match=r"a\.jsonl"):
        read_golden_file(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(InvalidInput, match="utf-8"):
        read_golden_file(path)


def test_a_build_server_reads_what_failed() -> None:
    failed_question = ReportedQuestion(
        "a", "Who\x1b leads <it>?", False, ["missing fact: Ada & Bob"]
    )
    suite = ElementTree.fromstring(
        junit_xml("w", [failed_question, ReportedQuestion("b", "How?", True)])
    )
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    failed_case, passed_case = suite
    assert failed_case.get("name") == "a: Who leads <it>?"
    assert [failure.get("message") for failure in failed_case] == ["missing fact: Ada & Bob"]
    assert list(passed_case) == []

"""What the command line prints: texts of others are shown, and act on nothing."""

import json
from pathlib import Path

import pytest

from cli import common, terminal
from cli.documents import show_outcome
from operations.adding import AddOutcome, TextWarning
from operations.documents import LeftOutFile, RefusedDocument
from runtime.errors import InvalidInput

HOSTILE = "a\x1b[31m\x07\x9b2J\u202e\udfff\r\tb\nforged"
ROOT = Path(common.__file__).parent


def test_a_line_stays_one_and_lines_stay_lines() -> None:
    assert terminal.line(HOSTILE) == r"a\x1b[31m\x07\x9b2J\u202e\udfff\r\tb\nforged"
    assert terminal.lines(HOSTILE) == "a\\x1b[31m\\x07\\x9b2J\\u202e\\udfff\\r\tb\nforged"
    assert terminal.lines("Grüße\r\n港 😀 عربي\u200d") == "Grüße\n港 😀 عربي\u200d"


def test_json_reads_as_the_same_value() -> None:
    text = terminal.as_json({HOSTILE: [HOSTILE]})
    assert json.loads(text) == {HOSTILE: [HOSTILE]}
    assert text.replace("\n", "").isprintable()


def test_answers_errors_and_reports_are_harmless(capsys: pytest.CaptureFixture[str]) -> None:
    common.echo(HOSTILE)
    common.note(HOSTILE, label="error:", colour="red")
    show_outcome(
        AddOutcome(
            refused=[RefusedDocument(HOSTILE, HOSTILE)], warnings=[TextWarning(HOSTILE, HOSTILE)]
        ),
        [LeftOutFile(HOSTILE, "hidden")],
    )
    with pytest.raises(BaseException, match="2"), common.errors(as_json=False):
        raise InvalidInput(HOSTILE)
    out, err = capsys.readouterr()
    assert (out + err).replace("\n", "").replace("\t", "").isprintable()
    assert (
        len([line for line in err.splitlines() if "forged" in line and line.startswith("  ")]) == 3
    )


def test_nothing_prints_past_it() -> None:
    """Every command prints through `common`, which sends everything through `terminal`."""
    sources = {path.name: path.read_text("utf-8") for path in ROOT.glob("*.py")}
    assert [
        name for name, text in sources.items() if "typer.echo(" in text or "typer.secho(" in text
    ] == ["common.py"]
    assert [name for name, text in sources.items() if "typer.style(" in text] == ["common.py"]

"""Verifies exported receipts: what is as it was and what is not, a line each."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cli.common import echo, print_json
from cli.terminal import line
from runtime.errors import InvalidInput

if TYPE_CHECKING:
    from runtime.receipts.exported import ExportedReceipt, FileFindings
    from runtime.receipts.period import ExportedPeriod


def verify_files(
    files: Sequence[Path], chain: str, text_files: Sequence[Path], *, as_json: bool
) -> int:
    """Verify files, print what was verified of each, and return the exit code.

    `chain`: a hash that their chain must have had; `text_files`: each must be a text of every
    receipt. Raises InvalidInput for what is no such file.
    """
    findings_by_file = {str(file): _findings(file, chain, text_files) for file in files}
    if as_json:
        print_json({"files": {file: vars(findings) for file, findings in findings_by_file.items()}})
    else:
        for file, findings in findings_by_file.items():
            _show(file, findings)
    return 0 if all(findings.is_well for findings in findings_by_file.values()) else 1


def _findings(file: Path, chain: str, text_files: Sequence[Path]) -> "FileFindings":
    # `--help` answers without loading pydantic.
    from runtime.receipts.period import read_export  # noqa: PLC0415

    try:
        receipt_file = read_export(file.read_bytes())
    except InvalidInput as error:
        raise InvalidInput(f"{file}: {error}") from None
    findings = receipt_file.verify()
    if chain:
        findings.note(
            "hash",
            is_well=receipt_file.has_link(chain),
            well="the chain had it when the last receipt came, or later",
            problem="the chain in the file never had it",
        )
    for text_file in text_files:
        if name := _name_of(text_file, receipt_file):
            findings.verified.append(f"{text_file}: it is {name}")
        else:
            findings.other_texts.append(f"{text_file}: its text differs from every text of it")
    return findings


def _name_of(text_file: Path, receipt_file: "ExportedReceipt | ExportedPeriod") -> str:
    """Return what a text is in the receipt; an editor may have put a line's end behind it."""
    try:
        text = text_file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InvalidInput(f"{text_file} is no text in UTF-8") from None
    return receipt_file.name_of_text(text) or receipt_file.name_of_text(text.removesuffix("\n"))


def _show(file: str, findings: "FileFindings") -> None:
    if findings.receipt:
        verdict = "is NOT as it was" if findings.problems else "is as it was"
        echo(line(f"{file}: receipt {findings.receipt} {verdict}"))
    else:
        verdict = "are NOT all as they were" if findings.problems else "are as they were"
        echo(line(f"{file}: {findings.receipts} receipts {verdict}"))
    for sentence in findings.verified:
        echo(line(f"  ok     {sentence}"))
    for sentence in (*findings.problems, *findings.other_texts):
        echo(line(f"  WRONG  {sentence}"))
    echo(f"  its chain ends in {findings.chain}")

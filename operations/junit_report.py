"""The results of golden questions as a JUnit file, which build servers show."""

from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree

from contracts.text import sanitize


@dataclass(frozen=True)
class ReportedQuestion:
    """A question, whether it passed, and why not."""

    id: str
    question: str
    has_passed: bool
    why: Sequence[str] = ()


def junit_xml(workspace: str, questions: Sequence[ReportedQuestion]) -> str:
    """Return the text of the file: one test for each question."""
    failures = sum(not question.has_passed for question in questions)
    suite = ElementTree.Element(
        "testsuite",
        name=f"golden questions of {workspace}",
        tests=str(len(questions)),
        failures=str(failures),
        errors="0",
    )
    for question in questions:
        name = f"{question.id}: {sanitize(question.question)}"
        case = ElementTree.SubElement(suite, "testcase", classname="golden", name=name)
        if not question.has_passed:
            why = [sanitize(reason) for reason in question.why]
            failure = ElementTree.SubElement(case, "failure", message="; ".join(why))
            failure.text = "\n".join(why)
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"

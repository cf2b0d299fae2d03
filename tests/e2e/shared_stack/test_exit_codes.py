"""For a name that nothing has, commands name it, and end with the code that docs/operations.md
says.
"""

import re

import pytest

from tests.support.commands import ROOT
from tests.support.stack import Stack

UNUSABLE = 2
"""The exit code for what was given and cannot be used."""

UNKNOWN = (
    "retry nope",
    "status nope",
    "log --document nope",
    "dead show 999999",
    "dead redrive 999999 --yes",
    "dead drop 999999 --yes",
    "delete nope --yes",
    "undo 999999 --yes",
    "history nope",
    "paths nope nada",
    "read nope",
    "access show nope",
    "access set nope --deny user:bo",
    "tag nope draft",
    "receipts show nope",
    "sources pause nope",
    "sources forget nope --yes",
    "branch status nope",
    "branch drop nope --yes",
    "validity show nope",
    "golden remove nope",
    "webhooks test nope",
    "webhooks remove 0123456789999999",
    "webhooks replay 0123456789999999 --after 1",
    "digest --as-of 999999",
    "diff 999998 999999",
)
"""Commands with a name, an id or a sequence that nothing has."""


def test_the_table_has_a_code_for_names_that_nothing_has() -> None:
    table = (ROOT / "docs/operations.md").read_text("utf-8")
    meanings = dict(re.findall(r"^\| (\d+) \| (.+) \|$", table, re.MULTILINE))
    assert "a name, id or sequence that nothing has" in meanings[str(UNUSABLE)]


@pytest.mark.parametrize("command", UNKNOWN)
def test_a_name_that_nothing_has_ends_with_its_code(stack: Stack, command: str) -> None:
    refused = stack.run(*command.split())
    assert refused.returncode == UNUSABLE, refused.stderr
    assert re.search("nope|99999", refused.stderr), "what was given is named"

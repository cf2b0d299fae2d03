"""For a name that nothing has, commands name it, and end with the code that docs/operations.md
says; so do requests, with 404.
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
    "diff 0 now --document nope",
    "access explain nope",
    "cost --document nope",
    "alias accept nope nope-either",
    "alias reject nope nope-either",
    "alias reject nope nope-either --yes",
    "alias undo nope nope-either",
    "alias undo nope nope-either --yes",
    "alias split nope nope-either --document nope",
    "receipts list --document nope",
    "receipts list --entity nope",
    "receipts list --passage nope-chunk-1",
    "receipts export nope",
    "receipts replay nope",
    "find word --document nope",
    "erase nope --yes",
    "golden run --id nope",
    "golden run --branch nope",
    "validity accept nope nope-either",
    "validity set nope --from 2020-01-01",
    "validity contradictions nope nope-either",
    "sources resume nope",
    "branch diff nope",
    "branch promote nope --yes",
    "region forget nope",
    "webhooks enable 0123456789999999",
    "webhooks rotate 0123456789999999",
    "log --since 999999",
    "ask why --as-of 999999",
)
"""Commands with a name, an id or a sequence that nothing has."""


REQUESTS = (
    "GET /documents/by_id?doc_id=nope",
    "GET /documents/access?doc_id=nope",
    "GET /documents/access/explain?doc_id=nope",
    "GET /documents/nope/validity",
    "GET /documents/nope/page",
    "GET /documents/nope/original",
    "GET /documents/nope/events",
    "GET /documents/nope/chunks",
    "GET /documents/scan/status/nope",
    "GET /events/999999",
    "GET /graph/entity/history?name=nope",
    "GET /graph/paths?source=nope&target=nope-either",
    "GET /graph/provenance?name=nope",
    "GET /graph/provenance?name=nope&other=nope-either",
    "GET /graph/contradictions?name=nope",
    "GET /passages/search?keyword=word&document=nope",
    "GET /passages/around?chunk_id=nope-chunk-1",
    "GET /operations/cost?document=nope",
    "GET /operations/diff?from=0&document=nope",
    "GET /operations/dead_letters/999999",
    "GET /branches/nope/status",
    "GET /branches/nope/comparison",
    "GET /receipts/019ceb77-2a10-7c3e-9a41-999999999999",
    "GET /v1/models/nope",
    "DELETE /golden-questions/nope",
    "DELETE /conversations/nope",
    "DELETE /operations/webhooks/0123456789999999",
)
"""Requests with a name, an id or a sequence that nothing has."""


def test_the_table_has_a_code_for_names_that_nothing_has() -> None:
    table = (ROOT / "docs/operations.md").read_text("utf-8")
    meanings = dict(re.findall(r"^\| (\d+) \| (.+) \|$", table, re.MULTILINE))
    assert "a name, id or sequence that nothing has" in meanings[str(UNUSABLE)]


@pytest.mark.parametrize("command", UNKNOWN)
def test_a_name_that_nothing_has_ends_with_its_code(stack: Stack, command: str) -> None:
    refusal = stack.run(*command.split())
    assert refusal.returncode == UNUSABLE, refusal.stderr
    assert re.search("nope|99999", refusal.stderr), "what was given is named"


@pytest.mark.parametrize("request_line", REQUESTS)
def test_a_request_for_what_is_not_there_is_told_so(stack: Stack, request_line: str) -> None:
    method, path = request_line.split()
    with stack.client() as client:
        answer = client.request(method, path)
    assert answer.status_code == 404, answer.text
    assert re.search("nope|99999", answer.text), "what was given is named"

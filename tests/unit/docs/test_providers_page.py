"""The page about providers has a row for everything that the misbehaving provider can do."""

import re

from tests.support.misbehaving_provider import embedding, messages, refusals, streams, token_usage
from tests.support.provider_page import PAGE, cases

MARKERS = {
    *refusals.REFUSALS,
    *messages.EVERY_TASK,
    *messages.EXTRACTION,
    *token_usage.ODD,
    *streams.BREAKS,
    *embedding.TEXTS,
}
HEADINGS = re.findall(r"^## (.+)\n\n(?:.+\n\n)?\| case \|", PAGE.read_text("utf-8"), re.MULTILINE)


def test_every_marker_word_has_one_row() -> None:
    rows = [case.marker for heading in HEADINGS for case in cases(heading)]
    assert sorted(MARKERS - set(rows)) == []
    assert len(rows) == len(set(rows)) > 100


def test_every_outcome_is_explained() -> None:
    outcomes = {case.outcome for heading in HEADINGS for case in cases(heading)}
    explanations = set(re.findall(r"^- \*\*([a-z ]+)\*\*:", PAGE.read_text("utf-8"), re.MULTILINE))
    assert outcomes == explanations

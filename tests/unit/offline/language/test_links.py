"""Links and cross references leave their words."""

import time

import pytest

from offline.language.links import without_addresses


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('The [keel](/wiki/Keel_(boat) "Keel (boat)") is long.', "The keel is long."),
        ("It sank.[[4]](#note-4) Nobody drowned.", "It sank. Nobody drowned."),
        ('Masts[[edit](/w/index?a=1&b=2 "Edit: Masts")]', "Masts"),
        ('It was red.[*[citation needed](/needed "Needed")*]', "It was red."),
        ("![a lamp](lamp.png) burns", "a lamp burns"),
        ("{func}`hoist` is faster. {issue}`21` {pr}`34`", "hoist is faster."),
        ("Call :py:func:`hoist` at 10:30.", "Call hoist at 10:30."),
        ("[not a link] (here), `code` and a[3](x y)", "[not a link] (here), `code` and a[3](x y)"),
    ],
)
def test_words_stay_and_addresses_go(text: str, words: str) -> None:
    assert without_addresses(text) == words


@pytest.mark.parametrize("piece", ["[a](", "[[a](b", "](", '[a](b "', "{a", "[*[a]"])
def test_odd_text_takes_no_longer(piece: str) -> None:
    began = time.process_time()
    without_addresses(f"{piece * 30_000}](x)`")
    assert time.process_time() - began < 2

"""What is read out of passages is remembered, as long as the names stay."""

import pytest
from cachetools import LRUCache

from services.query.passage import Passage
from services.query.retrieval.name_index import NameIndex
from services.query.retrieval.passage_index import readings
from services.query.retrieval.passage_index.builder import IndexBuilder
from services.query.retrieval.passage_index.joined_words import PASSAGE_OVERHEAD
from services.query.retrieval.passage_index.passage_words import PassageWords, words_of
from services.query.retrieval.passage_index.readings import read_passages

NAMES = {"Ada Marsh": "person", "Port Elm": "town"}
TEXTS = (
    "Ada Marsh was a tailor. She rowed to Port Elm.",
    "",
    "Port Elm is a town. Grey Gull lies there, and Marsh had it built.",
)


def passages(file: str = "notes") -> list[PassageWords]:
    return [
        words_of(Passage(str(number), f"d{number}", 0, text, f"{file}.txt"))
        for number, text in enumerate(TEXTS)
    ]


def names_of(*more: tuple[str, str]) -> NameIndex:
    index = NameIndex()
    index.add([*NAMES.items(), *more])
    return index


def mentions(names: NameIndex, file: str = "notes") -> set[tuple[str, str]]:
    """Pairs of a passage and an entity that it mentions."""
    index = IndexBuilder(names).add(passages(file)).build()
    entities = list(index.entities)
    return {
        (index.ids[passage], entities[entity])
        for entity, passage in zip(index.entity_of.tolist(), index.passage_of.tolist(), strict=True)
    }


def test_a_passage_is_read_once_while_the_names_stay() -> None:
    names = names_of()
    first = read_passages(passages(), names)
    assert all(
        again is before
        for again, before in zip(read_passages(passages(), names), first, strict=True)
    )


def test_a_new_name_is_found_in_passages_that_were_read_before() -> None:
    names = names_of()
    assert ("2", "Grey Gull") not in mentions(names)
    names.renew({"Grey Gull": "ship"})
    assert mentions(names) == mentions(names_of(("Grey Gull", "ship")))
    assert ("2", "Grey Gull") in mentions(names)


def test_a_name_that_is_gone_is_found_no_more() -> None:
    names = names_of(("Grey Gull", "ship"))
    assert ("2", "Grey Gull") in mentions(names)
    names.renew({"Grey Gull": None})
    assert mentions(names) == mentions(names_of())


def test_another_name_is_found_in_passages_that_were_read_before() -> None:
    names = names_of()
    mentions(names)
    names.add_aliases([("Grey Gull", "Port Elm")])
    third = read_passages(passages(), names)[2]
    assert names.names_of(third.named_entities.tolist()) == ("Port Elm", "Ada Marsh")


def test_two_files_with_the_same_words_have_titles_of_their_own() -> None:
    names = names_of(("Grey Gull Log", "book"))
    assert ("0", "Grey Gull Log") not in mentions(names)
    assert ("0", "Grey Gull Log") in mentions(names, "Grey Gull Log")


def test_two_workspaces_read_the_same_words_by_their_own_names() -> None:
    assert mentions(names_of()) != mentions(names_of(("Grey Gull", "ship")))


def test_of_very_short_passages_few_more_are_remembered_than_of_long_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cost = readings._readings.getsizeof  # pyright: ignore[reportPrivateUsage]
    cache = LRUCache[object, readings.PassageReading](10 * PASSAGE_OVERHEAD, cost)
    monkeypatch.setattr(readings, "_readings", cache)
    read_passages(
        [words_of(Passage(str(number), "d", 0, f"Lot {number}", "a.txt")) for number in range(50)],
        names_of(),
    )
    assert 5 < len(cache) < 10

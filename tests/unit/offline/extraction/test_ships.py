"""Ships are told by what stands before their names; people and firms behind the same words are not
taken for them.
"""

import pytest

from offline.extraction.extract import extract


def kinds(text: str) -> dict[str, str]:
    return {entity.name: entity.type for entity in extract(text).entities}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("The ferry Heron crosses to Grey Island. Ada Marsh bought the Heron in 1924.", "Heron"),
        ("Darwin sailed aboard HMS Beagle in 1831.", "HMS Beagle"),
        ("The SS Great Britain was built by Brunel.", "SS Great Britain"),
        ("Two of them left in the three-masted schooner called Oak Queen.", "Oak Queen"),
        ("The steamer Waratah was lost in 1909. The Waratah carried 211 people.", "Waratah"),
    ],
)
def test_a_ship_is_told_by_what_stands_before_its_name(text: str, name: str) -> None:
    assert kinds(text)[name] == "ship"


@pytest.mark.parametrize(
    "text",
    [
        "The ship Darwin sailed on was small. Darwin wrote a book about it.",
        "MV Agusta builds motorcycles in Varese.",
        "The ferry Ada Marsh bought crosses to Grey Island.",
        "MS Word and SS Lazio are no vessels. The Harbour Office has a ship.",
    ],
)
def test_nothing_else_is_a_ship(text: str) -> None:
    assert "ship" not in kinds(text).values()

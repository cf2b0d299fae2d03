"""What the mode `auto` makes of a walk that has linked no name, and of the mode `mix`."""

import re
from pathlib import Path

import pytest

from services.query.retrieval.mode_selection import choose_mode, with_walked
from services.query.retrieval.multihop.names_read import NOT_ALL
from services.query.retrieval.results import SearchResult

TEXTS = Path(__file__).resolve().parents[4] / "web/src/texts/server/zh.ts"


def test_the_first_chunks_of_a_walk_stay_first_and_the_best_of_mix_come_soon() -> None:
    walk_result = SearchResult(chunk_ids=[f"walk-{place}" for place in range(20)])
    mixed_result = SearchResult(chunk_ids=["mix-0", "walk-1", "mix-1"], tokens=7)
    result = with_walked(mixed_result, walk_result)
    assert list(result.chunk_ids[:2]) == ["walk-0", "walk-1"]
    assert {"mix-0", "mix-1"} <= set(result.chunk_ids[:20])
    assert result.tokens == 7


@pytest.mark.parametrize("note", ["", NOT_ALL])
@pytest.mark.parametrize("linked", [[], [{"said": "Ada"}, {"said": "St. Mary"}]])
def test_the_page_has_each_reason_in_chinese(note: str, linked: list[dict[str, str]]) -> None:
    _, reason = choose_mode({"linked": linked} | ({"names_note": note} if note else {}))
    forms = [
        form.replace("\\/", "/")
        for form in re.findall(r"^  \[/(\^.+\$)/, ", TEXTS.read_text("utf-8"), re.MULTILINE)
    ]
    assert any(re.fullmatch(form, reason) for form in forms)

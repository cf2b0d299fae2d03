"""Rows that are stored the same are decoded once, within a bound."""

from typing import Any

from runtime.stores.documents.row_json import encode
from runtime.stores.documents.row_parser import RowParser


def long_row(word: str) -> dict[str, Any]:
    return {"text": f"{word} " * 400}


def test_the_same_row_is_decoded_once() -> None:
    decoded: list[str] = []
    parser = RowParser(lambda row: decoded.append(row["text"][:4]) or row["text"], len, 10_000)
    gull, tern = encode("a", long_row("gull")), encode("a", long_row("tern"))
    assert isinstance(gull, bytes)
    texts = [parser.of(body) for body in (gull, tern, gull, tern)]
    assert texts == 2 * [long_row("gull")["text"], long_row("tern")["text"]]
    assert decoded == ["gull", "tern"]


def test_what_was_used_last_is_remembered_up_to_the_bound() -> None:
    decoded: list[str] = []
    parser = RowParser(lambda row: decoded.append(row["text"][:4]) or row["text"], len, 5_000)
    for word in ("gull", "tern", "gull", "wren", "gull", "tern"):
        parser.of(encode("a", long_row(word)))
    assert decoded == ["gull", "tern", "wren", "tern"]


def test_what_is_larger_than_the_bound_is_decoded_each_time() -> None:
    parser = RowParser(lambda row: row["text"], len, 100)
    body = encode("a", long_row("gull"))
    assert parser.of(body) == parser.of(body) == long_row("gull")["text"]

"""JSON as people read it: values under their full paths."""

import json as notation

import pytest

from runtime.errors import InvalidInput
from runtime.parsing import json, jsonl


def test_values_stand_under_the_path_of_their_object() -> None:
    value = {
        "version": 3,
        "company": {
            "name": "Marlow & Vane",
            "tags": ["ships", "salt"],
            "about": "two\nlines",
            "nothing": None,
            "empty": {},
            "offices": [{"city": "Port Elm", "staff": 12}, {"city": "Oakham", "open": False}],
        },
    }
    assert json.text(notation.dumps(value).encode()).text == (
        "version: 3\n\ncompany\n  name: Marlow & Vane\n  tags: ships, salt\n  about: two\n    "
        "lines\n\n"
        "company.offices[1]\n  city: Port Elm\n  staff: 12\n\ncompany.offices[2]\n  city: "
        "Oakham\n  open: false"
    )


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ('[{"a": 1}, {"a": {"b": [1, 2]}}]', "[1]\n  a: 1\n\n[2].a\n  b: 1, 2"),
        ('"a text"', "a text"),
        ("[1, true, null]", "[1]: 1\n[2]: true"),
        ('{"a": [[1, 2], [3]]}', "a\n  [1]: 1, 2\n  [2]: 3"),
        (
            '{"n": 1.50, "m": 12345678901234567890, "x": NaN}',
            "n: 1.50\nm: 12345678901234567890\nx: NaN",
        ),
        ('{"a b": "c\\u0000d"}', "a b: c\0d"),
        ('{"": {"": 1}}', "1"),
        (f'{{"n": {"1" * 5000}}}', f"n: {'1' * 5000}"),
    ],
)
def test_every_form_of_json_is_readable(source: str, text: str) -> None:
    assert json.text(source).text == text


def test_json_lines_stand_under_the_numbers_of_their_lines() -> None:
    source = '{"a": 1, "b": {"c": 2}}\n\n{"a": "x\u2028y"}\r\n5\n'
    assert (
        jsonl.text(source).text
        == "line 1\n  a: 1\n\nline 1.b\n  c: 2\n\nline 3\n  a: x\n    y\n\nline 4: 5"
    )


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (
            '{"a": 1,\n "b": }',
            "not JSON at line 2, column 7: Expecting value: amend it, or save it as .txt",
        ),
        ("", "not JSON at line 1, column 1"),
        ('{"a": 1} {"b": 2}', "not JSON at line 1, column 10: Extra data"),
        ("{}", "no text in it"),
        ("[null, [], {}, [[]]]", "no text in it"),
        ("[" * 103 + "1" + "]" * 103, "nested more than 100 levels deep"),
        ("[" * 100_000 + "]" * 100_000, "nested more than 100 levels deep"),
        ('{"a":' * 100_000, "nested more than 100 levels deep"),
    ],
)
def test_what_is_not_json_is_refused_with_the_place(source: str, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        json.text(source)


def test_a_bad_line_is_named() -> None:
    with pytest.raises(InvalidInput, match="line 2: not JSON at line 1, column 2"):
        jsonl.text('{"a": 1}\n{a}\n')

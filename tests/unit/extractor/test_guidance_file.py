"""The file of types and examples: what it may say, and that a bad one is refused with the line to
look at.
"""

from pathlib import Path

import pytest

from runtime.errors import ConfigurationError
from runtime.extraction_guidance import LARGEST
from services.extractor.adapters.guidance_file import read_guidance
from services.extractor.domain.guidance import (
    COMPLETION_MARK,
    DELIMITER,
    ExtractionConfig,
    Guidance,
)
from services.extractor.domain.prompt import system_prompt


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "types.yaml"


def read(file: Path, text: str) -> Guidance:
    file.write_text(text, "utf-8")
    return read_guidance(str(file))


@pytest.mark.parametrize(
    ("text", "types"),
    [
        ("entity_types_guidance: |\n  - Ship: floats\n  - Crew\n", "- Ship: floats\n- Crew"),
        ("entity_types_guidance: [Ship, Crew]", "    Ship\n    Crew"),
        ("entity_types_guidance:\n  Ship: floats\n  Crew:\n", "    Ship: floats\n    Crew"),
    ],
)
def test_types_are_a_text_a_list_or_names_with_meanings(file: Path, text: str, types: str) -> None:
    guidance = read(file, text)
    assert guidance.types == types
    assert types in system_prompt(ExtractionConfig(guidance=guidance))
    assert guidance.examples == Guidance().examples


def test_examples_of_each_form_are_read_and_the_marks_filled_in(file: Path) -> None:
    text = (
        "entity_extraction_examples:\n  - |\n    entity{tuple_delimiter}A\n    "
        "{completion_delimiter}\n  - two\n"
        "entity_extraction_json_examples:\n  - '{\"entities\": []}'\n"
    )
    guidance = read(file, text)
    assert guidance.examples == (f"entity{DELIMITER}A\n{COMPLETION_MARK}", "two")
    assert guidance.json_examples == ('{"entities": []}',)
    assert "{" in system_prompt(ExtractionConfig(json=True, guidance=guidance))


def test_an_empty_file_changes_nothing_and_an_empty_list_of_examples_leaves_them_out(
    file: Path,
) -> None:
    assert read(file, "") == read(file, "# nothing\n") == Guidance()
    assert read(file, "entity_extraction_examples: []").examples == ()


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("entity_types_guidance: [Ship\nnext: x\n", 2, "expected"),
        ("a: b\n  c: d\n", 2, "mapping values are not allowed"),
        ("# types\nentity_types: [Ship]\n", 2, "`entity_types` is no key"),
        ("- Ship\n", 1, "must be a mapping"),
        ("entity_types_guidance:\n  - Ship\n  - [Crew]\n", 3, "a text is expected"),
        ("entity_types_guidance:\n  Ship: floats\n  '': empty\n", 3, "must not be empty"),
        ("entity_types_guidance: ''\n", 1, "must not be empty"),
        ("entity_types_guidance: []\n", 1, "at least one type"),
        ("entity_extraction_examples:\n  - one\n  -\n", 3, "must not be empty"),
        ("x: !!python/object:os.system {}\n", 1, "`x` is no key"),
    ],
)
def test_a_bad_file_is_refused_with_its_line(file: Path, text: str, line: int, reason: str) -> None:
    with pytest.raises(ConfigurationError, match=reason) as error:
        read(file, text)
    assert str(error.value).startswith(f"ENTITY_TYPE_PROMPT_FILE: {file} line {line}: ")


def test_a_file_that_cannot_be_read_is_refused(file: Path) -> None:
    with pytest.raises(ConfigurationError, match="No such file"):
        read_guidance(str(file))
    file.write_bytes(b"\xff\xfe\xfd")
    with pytest.raises(ConfigurationError, match="is not UTF-8"):
        read_guidance(str(file))
    file.write_bytes(b"#" * (LARGEST + 1))
    with pytest.raises(ConfigurationError, match="at most"):
        read_guidance(str(file))
    file.write_bytes(b"a: \x00")
    with pytest.raises(ConfigurationError, match="special characters"):
        read_guidance(str(file))

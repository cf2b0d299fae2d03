"""What stands in a Word document as text: each feature of the format in a document of raw XML."""

import pytest

from runtime.parsing import docx
from tests.support.word_files import FEATURES, Feature
from tests.support.word_xml import word


@pytest.mark.parametrize("name", FEATURES)
def test_a_feature_of_word_is_read_as_people_see_it(name: str) -> None:
    feature: Feature = FEATURES[name]
    content = docx.text(word(feature.body, **feature.parts))
    lines = [line.strip() for line in content.text.split("\n")]
    for line in feature.lines:
        assert line in lines
        assert lines.count(line) == 1
    for word_left_out in feature.absent:
        assert word_left_out not in content.text
    for warning in feature.warnings:
        assert any(warning in sentence for sentence in content.warnings)
    if not feature.warnings and not feature.absent:
        assert content.warnings == ()

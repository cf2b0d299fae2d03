"""Names in Chinese characters in a sentence of another script; none are made of a Chinese sentence
with some Latin.
"""

import pytest

from offline.language.names import names


def found(text: str) -> list[str]:
    return [name.text for name in names(text)]


@pytest.mark.parametrize(
    ("text", "expected_names"),
    [
        ("The film 卧虎藏龙 was directed by 李安.", ["卧虎藏龙", "李安"]),
        ("蒋蒋 云胡陈 was a surgeon and met 石郑 于高 there.", ["蒋蒋 云胡陈", "石郑 于高"]),
        ("After school came studies at University of 石林.", ["University of 石林"]),
        ("Since 1959 戴武风 Polytechnic has taught medicine.", ["戴武风 Polytechnic"]),
        ("Liang Ji (梁冀) was a politician of the court.", ["Liang Ji", "梁冀"]),
        ("It follows 风和日丽 by 李安's brother.", ["风和日丽", "李安"]),
    ],
)
def test_each_run_of_characters_is_a_name_whole_and_with_its_blanks(
    text: str, expected_names: list[str]
) -> None:
    assert found(text) == expected_names


def test_a_name_of_characters_alone_keeps_its_kind() -> None:
    assert [name.kind for name in names("The film 卧虎藏龙 is by 戴武风 Pictures and others.")] == [
        "han",
        "name",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "他在 The Beatles 乐队中担任主唱，王小明是歌手。",
        "我们使用 Docker 部署。",
        "李安导演了 Life of Pi。",
    ],
)
def test_a_chinese_sentence_with_some_latin_is_read_as_chinese(text: str) -> None:
    assert not any(
        "在" in name or "我们" in name or "导演了" in name or "乐队中" in name
        for name in found(text)
    )


def test_a_long_quotation_is_no_name() -> None:
    assert found("He said 天地玄黄宇宙洪荒日月盈昃辰宿列张寒来暑往 and left the room.") == []

"""The tokenizer: offline, for any text, the same tokens whether a text is cut or not."""

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
import tiktoken
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.errors import ConfigurationError
from runtime.models.tokens import CACHE_VARIABLE, VOCABULARIES, TiktokenTokenizer, install
from runtime.text import token_boundaries
from runtime.text.token_boundaries import LONGEST, pieces


@pytest.fixture(scope="module")
def tokenizers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, TiktokenTokenizer]:
    folder = tmp_path_factory.mktemp("vocabulary")
    return {encoding: TiktokenTokenizer(encoding, folder) for encoding in VOCABULARIES}


@pytest.fixture(scope="module")
def tokenizer(tokenizers: dict[str, TiktokenTokenizer]) -> TiktokenTokenizer:
    return tokenizers["o200k_base"]


def raw(text: str) -> list[int]:
    return tiktoken.get_encoding("o200k_base").encode_ordinary(text)


@given(st.text())
def test_text_without_lone_surrogates_round_trips(tokenizer: TiktokenTokenizer, text: str) -> None:
    assert tokenizer.decode(tokenizer.encode(text)) == text
    assert tokenizer.count(text) == len(tokenizer.encode(text))


@given(st.text(alphabet=st.characters(), max_size=30))
def test_any_string_survives_lone_surrogates_included(
    tokenizer: TiktokenTokenizer, text: str
) -> None:
    assert len(tokenizer.decode(tokenizer.encode("\ud800" + text))) >= 1


@given(st.text(alphabet="abA 1²½Ⅳ٣,.\n'Ss中，。\t\r_-é/\u0301\u3000", max_size=200))
def test_cutting_at_a_border_changes_no_token(
    tokenizers: dict[str, TiktokenTokenizer], text: str
) -> None:
    for tokenizer in tokenizers.values():
        for border in token_boundaries._BORDER.finditer(text):
            before = text[: border.end()]
            after = text[border.end() :]
            assert tokenizer.encode(before) + tokenizer.encode(after) == tokenizer.encode(text)


def test_special_token_markers_are_ordinary_text(tokenizer: TiktokenTokenizer) -> None:
    assert tokenizer.decode(tokenizer.encode("<|endoftext|>")) == "<|endoftext|>"
    assert tokenizer.count("<|endoftext|>") > 1


@pytest.mark.parametrize(
    "text",
    [
        "The quick brown fox, aged 12345, didn't jump.\n\n" * 6_000,
        "人工智能改变世界。机器学习，深度学习！\n" * 12_000,
        "def f(x):\n    return x + 1\n\n\n" * 8_000,
    ],
)
def test_long_ordinary_text_has_the_tokens_of_the_uncut_text(
    tokenizer: TiktokenTokenizer, text: str
) -> None:
    assert len(text) > 2 * LONGEST
    assert tokenizer.encode(text) == raw(text)


@pytest.mark.parametrize("unit", [" ", "\t", "\n", "a", "\u3000", "=", "中", "\r\n ", " \t"])
def test_a_million_equal_characters_do_no_harm(tokenizer: TiktokenTokenizer, unit: str) -> None:
    text = unit * (1_000_000 // len(unit)) + "x"
    assert tokenizer.decode(tokenizer.encode(text)) == text


def test_pieces_are_bounded_and_lose_nothing() -> None:
    text = "word " * 30 + "x" * 500 + " tail"
    parts = list(pieces([text[:7], text[7:300], "", text[300:]], longest=100))
    assert "".join(parts) == text
    assert max(map(len, parts)) <= 100


def test_pieces_are_passed_on_before_the_rest_is_there() -> None:
    def texts() -> Iterator[str]:
        yield "word " * 30
        pytest.fail("nobody asked for more")

    assert next(pieces(texts(), longest=100)) == "word " * 19 + "word"


WORDS = [
    "The",
    "water",
    " ",
    "\n",
    "\r\n",
    "\t",
    " " * 40,
    "\n" * 30,
    "\n \n",
    "  return x\n",
    "人工",
    "，",
    "。",
    "！\n",
    "👩‍👩‍👧",
    "🌊",
    "3.14",
    "don't",
    "'s",
    "://",
    "_id",
    "==",
    "{\n",
    "}",
    "\u3000",
    "e\u0301",
    "ß",
    "²",
    "ⅣII",
    "#",
]
ORDINARY = ["word", " blue", "\n\n", "。海", "    ", "\t", " x=1;", "🌊 ", "99a"]
writing = st.lists(st.one_of(st.sampled_from(WORDS), st.text(max_size=6)), max_size=60).map(
    lambda words: "".join(words).encode("utf-8", "ignore").decode()
)


@settings(max_examples=400)
@given(writing, st.integers(1, 40))
def test_pieces_have_the_tokens_of_the_whole_text(
    tokenizers: dict[str, TiktokenTokenizer], text: str, longest: int
) -> None:
    """Where no border is near, a piece may be cut anywhere: those cuts are left out of what must
    hold.
    """
    parts = list(pieces([text], longest))
    assert "".join(parts) == text
    for tokenizer in tokenizers.values():
        beginning = ""
        for part, next_part in pairwise(parts):
            beginning += part
            if any(
                border.end() == len(part)
                for border in token_boundaries._BORDER.finditer(part + next_part[:1])
            ):
                token_ids = tokenizer.encode(beginning + next_part)
                assert tokenizer.encode(beginning) + tokenizer.encode(next_part) == token_ids


@settings(max_examples=100)
@given(
    st.lists(
        st.sampled_from(ORDINARY),
        min_size=40,
        max_size=80,
    )
)
def test_ordinary_text_in_small_pieces_has_the_tokens_of_the_whole(
    tokenizer: TiktokenTokenizer, words: list[str]
) -> None:
    text = " and".join(words)
    assert [token for piece in pieces([text], 60) for token in tokenizer.encode(piece)] == raw(text)


def test_a_character_cut_in_two_becomes_the_replacement_character(
    tokenizer: TiktokenTokenizer,
) -> None:
    token_ids = tokenizer.encode("\U0001f9ff")
    assert len(token_ids) > 1
    assert "\ufffd" in tokenizer.decode(token_ids[:1])


def test_a_damaged_cache_file_is_replaced(tmp_path: Path) -> None:
    digest, name = VOCABULARIES["cl100k_base"]
    (tmp_path / name).write_bytes(b"not a vocabulary")
    install("cl100k_base", tmp_path)
    assert hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() == digest
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_whole_cache_file_is_left_alone(tmp_path: Path) -> None:
    install("cl100k_base", tmp_path)
    path = tmp_path / VOCABULARIES["cl100k_base"][1]
    before = path.stat().st_mtime_ns
    install("cl100k_base", tmp_path)
    assert path.stat().st_mtime_ns == before


def test_the_users_cache_folder_is_respected_and_its_setting_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    TiktokenTokenizer("cl100k_base")
    assert (tmp_path / VOCABULARIES["cl100k_base"][1]).is_file()
    assert os.environ[CACHE_VARIABLE] == str(tmp_path)


def test_a_folder_that_cannot_be_written_is_said_with_the_setting(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ConfigurationError, match=CACHE_VARIABLE):
        TiktokenTokenizer(folder=tmp_path / "file" / "folder")


def test_an_unknown_encoding_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ConfigurationError, match="o200k_base"):
        TiktokenTokenizer("gpt2")


def test_a_new_process_needs_no_network(tmp_path: Path) -> None:
    code = (
        "import socket\n"
        "def refuse(*a, **k): raise AssertionError('network')\n"
        "socket.socket.connect = refuse; socket.getaddrinfo = refuse\n"
        "from runtime.models.tokens import TiktokenTokenizer\n"
        "assert TiktokenTokenizer('cl100k_base').count('hello world') == 2\n"
    )
    env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    env.pop(CACHE_VARIABLE, None)
    subprocess.run([sys.executable, "-c", code], check=True, env=env, timeout=60)
    assert (tmp_path / "lightstream" / "tiktoken" / VOCABULARIES["cl100k_base"][1]).is_file()

"""Which documents a user means by some paths, and how they are called."""

import io
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from contracts.ids import document_id, md5, sha256
from operations.documents import DocumentSource, find_documents, read_document
from runtime.errors import InvalidInput


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a bit of everything."""
    for name, data in {
        "b.md": b"b",
        "a/z.txt": b"z",
        "a/README.md": b"inner",
        "README.md": b"outer",
        "LICENSE": "Grüße".encode(),
        "program": b"\x7fELF\0\0",
        "picture.gif": b"\x89PNG",
        ".hidden.md": b"h",
        ".git/config.txt": b"g",
        "a/.cache/c.md": b"c",
    }.items():
        path = tmp_path / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return tmp_path / "docs"


def names(*paths: Path | str) -> list[str]:
    """The names of what is found."""
    return [source.name for source in find_documents([str(path) for path in paths]).sources]


def test_a_folder_is_read_with_all_below_it_in_sorted_order(folder: Path) -> None:
    result = find_documents([str(folder)])
    assert [source.name for source in result.sources] == [
        "LICENSE",
        "README.md",
        "a/README.md",
        "a/z.txt",
        "b.md",
    ]
    assert len(result.skipped) == 3, (
        "a program, a picture and a hidden file; hidden folders are not looked into"
    )
    assert all(skipped_file.reason for skipped_file in result.skipped)
    assert "hidden" in {skipped_file.reason for skipped_file in result.skipped}
    assert result.refused == []


def test_pictures_come_after_all_texts(folder: Path) -> None:
    (folder / "a/plan.png").write_bytes(b"\x89PNG")
    assert names(folder / "a", folder / "b.md") == ["README.md", "z.txt", "b.md", "plan.png"]


def test_documents_of_a_folder_are_told_apart_by_their_path(folder: Path) -> None:
    sources = {source.name: source for source in find_documents([str(folder)]).sources}
    assert sources["a/README.md"].id == "doc-" + md5("a/README.md")
    assert sources["README.md"].id == document_id("", "README.md")
    assert len({source.id for source in sources.values()}) == 5


def test_a_single_file_has_its_base_name_and_the_id_of_the_contract(folder: Path) -> None:
    [source] = find_documents([str(folder / "a" / "README.md")]).sources
    assert (source.name, source.id) == ("README.md", document_id("", "/x/README.md"))


def test_equal_names_in_two_given_folders_stay_apart(folder: Path) -> None:
    other_folder = folder.parent / "more"
    other_folder.mkdir()
    (other_folder / "README.md").write_text("another")
    result = names(folder / "README.md", other_folder)
    assert result == ["README.md", "more/README.md"]
    ids = {
        source.id
        for source in find_documents(
            [str(folder), str(other_folder), str(folder / "a" / "z.txt")]
        ).sources
    }
    assert len(ids) == 7 - 1, "a/z.txt was given twice and is one document"


def test_the_same_file_is_one_document(folder: Path) -> None:
    link = folder / "link.md"
    link.symlink_to(folder / "b.md")
    assert names(folder, folder / "b.md", f"{folder}/../docs/b.md").count("b.md") == 1
    assert "link.md" not in names(folder)


def test_what_is_not_there_is_refused_and_the_rest_goes_on(folder: Path) -> None:
    result = find_documents(["/no/such/thing", str(folder / "b.md")])
    assert [source.name for source in result.sources] == ["b.md"]
    assert [(refusal.name, refusal.reason) for refusal in result.refused] == [
        ("/no/such/thing", "no such file or folder")
    ]


async def test_what_is_not_a_regular_file_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    os.mkfifo(tmp_path / "pipe")
    [source] = find_documents([str(tmp_path / "pipe.txt")]).sources
    with pytest.raises(InvalidInput, match="not a regular file"):
        await read_document(source)
    assert names(tmp_path) == ["pipe.txt"]


async def test_a_large_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    with (tmp_path / "large.txt").open("wb") as file:
        file.truncate(51 * 2**20)
    with pytest.raises(InvalidInput, match="51 MB is more than the 50 MB"):
        await read_document(find_documents([str(tmp_path / "large.txt")]).sources[0])


async def test_a_file_that_is_gone_or_closed_names_the_reason(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="cannot be read: No such file"):
        await read_document(DocumentSource(tmp_path / "gone.txt", "gone.txt", None))
    (tmp_path / "broken.md").symlink_to(tmp_path / "nowhere")
    [source] = find_documents([str(tmp_path)]).sources
    with pytest.raises(InvalidInput, match="cannot be read"):
        await read_document(source)


async def test_standard_input_has_a_name_when_it_is_given_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO("Grüße".encode())))
    [source] = find_documents(["-"], stdin_name="notes.md").sources
    assert source.id == document_id("", "notes.md")
    assert (await read_document(source)).text == "Grüße"
    assert find_documents(["-"]).sources[0].id is None


async def test_a_file_is_described_and_standard_input_is_not(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "a" / "copy.md").write_bytes(b"b")
    result = {
        source.name: (await read_document(source)).metadata
        for source in find_documents([str(folder)]).sources
    }
    assert result["b.md"] == {
        "file_name": "b.md",
        "media_type": "text/markdown",
        "file_size": 1,
        "file_sha256": sha256("b"),
        "encoding": "utf-8",
        "encoding_confidence": 1.0,
    }
    assert result["a/copy.md"] == {**result["b.md"], "file_name": "copy.md"}, (
        "the folder is in the document's name"
    )
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"b")))
    assert (await read_document(find_documents(["-"], stdin_name="b.md").sources[0])).metadata == {}


@pytest.mark.parametrize("name", ["a\\..\\x.txt", "a\nb.txt", os.fsdecode(b"caf\xe9.txt")])
async def test_a_file_whose_name_is_no_plain_name_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("text")
    [source] = find_documents([str(tmp_path)]).sources
    with pytest.raises(
        InvalidInput, match=r"not a plain file name: give one in UTF-8, without"
    ) as refusal:
        await read_document(source)
    assert str(refusal.value).isprintable()


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "a/../b.md"])
async def test_standard_input_cannot_be_given_a_name_that_climbs(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"text")))
    with pytest.raises(InvalidInput, match=f"^{name}: not a plain file name"):
        await read_document(find_documents(["-"], stdin_name=name).sources[0])

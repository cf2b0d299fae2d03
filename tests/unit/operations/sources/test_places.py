"""Folders and Git repositories as sources, and addresses that are none."""

import os
from pathlib import Path
from typing import Any

import pytest
from dulwich import porcelain
from dulwich.repo import Repo

from operations.sources.folder import FolderSource
from operations.sources.git import LARGE_FILE, GitSource
from operations.sources.open import KINDS, name_in_log, open_source, refuse_secrets
from operations.sources.secrets import credentials, split_address
from runtime.errors import InvalidInput, Unavailable

AUTHOR = b"Ada <ada@example.org>"


def commit(repository: Repo, files: dict[str, bytes]) -> str:
    root = Path(repository.path)
    for name, data in files.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_bytes(data)
    porcelain.add(repository, [str(root / name) for name in files])
    hash = porcelain.commit(repository, message=b"more", author=AUTHOR, committer=AUTHOR)
    return hash.decode()


async def test_links_to_nowhere_and_pipes_are_skipped_and_stop_no_run(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("Ada leads.", "utf-8")
    (tmp_path / "broken.md").symlink_to("nowhere.md")
    (tmp_path / "circle.pdf").symlink_to("circle.pdf")
    os.mkfifo(tmp_path / "pipe.md")
    listing = await FolderSource(tmp_path).list_items("")
    assert listing and [item.key for item in listing.items] == ["a.md"]
    assert listing.unreadable == []
    assert {file.name: file.reason for file in listing.skipped_files} == {
        "broken.md": "a link that leads nowhere",
        "circle.pdf": "a link that leads nowhere",
        "pipe.md": "not a regular file",
    }


async def test_a_folder_lists_documents_with_a_version_and_says_what_it_leaves_out(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "minutes"
    folder.mkdir()
    (folder / "a.md").write_text("Ada leads.", "utf-8")
    (folder / ".hidden").write_text("x", "utf-8")
    source = open_source(str(folder))
    assert isinstance(source, FolderSource) and source.name == folder.as_uri()
    listing = await source.list_items("")
    assert listing
    (item,) = listing.items
    assert (item.key, item.name) == ("a.md", "minutes/a.md")
    assert [skipped.reason for skipped in listing.skipped_files] == ["hidden"]
    assert (await source.read(item)).data == b"Ada leads."
    (folder / "a.md").unlink()
    with pytest.raises(InvalidInput, match="cannot be read"):
        await source.read(item)
    folder.rename(tmp_path / "elsewhere")
    with pytest.raises(InvalidInput, match="is it mounted"):
        await open_source(source.name).list_items("")


async def test_a_repository_lists_the_files_of_its_newest_commit(tmp_path: Path) -> None:
    repository = porcelain.init(str(tmp_path / "port"))
    commit(repository, {"a.md": b"Ada leads.", "docs/b.md": LARGE_FILE + b"v1\n", "x.gif": b"x"})
    head = commit(repository, {"a.md": b"Olga leads."})
    address = f"git+{(tmp_path / 'port').as_uri()}"
    source = open_source(address)
    assert isinstance(source, GitSource) and source.name == address
    listing = await source.list_items("")
    assert listing and listing.cursor == head
    names = {item.name: item for item in listing.items}
    assert names.keys() == {"port/a.md", "port/docs/b.md"}
    assert [skipped.name for skipped in listing.skipped_files] == ["x.gif"]
    assert (await source.read(names["port/a.md"])).data == b"Olga leads."
    with pytest.raises(InvalidInput, match="Git LFS"):
        await source.read(names["port/docs/b.md"])
    assert await open_source(address).list_items(head) is None
    folder = source._folder
    await source.close()
    assert folder and not folder.exists()
    with pytest.raises(InvalidInput, match="no branch other: add #BRANCH, one of "):
        await open_source(f"{address}#other").list_items("")
    with pytest.raises(InvalidInput, match="is no repository"):
        await open_source(f"git+{tmp_path.as_uri()}").list_items("")


@pytest.mark.parametrize(
    "address",
    [
        "git+https://ada:secret@example.org/x.git",
        "https://example.org/feed?format=rss&access_token=secret",
        "s3://bucket?X-Amz-Signature=secret",
    ],
)
def test_an_address_with_a_secret_is_refused_without_repeating_it(address: str) -> None:
    for refuse in (split_address, open_source, lambda text: refuse_secrets([text])):
        with pytest.raises(InvalidInput, match="SOURCE_PASSWORD") as refusal:
            refuse(address)
        assert "secret" not in str(refusal.value)


def test_an_address_of_no_kind_names_the_kinds_that_there_are() -> None:
    with pytest.raises(InvalidInput, match="s3:") as refusal:
        open_source("gopher://example.org")
    assert all(scheme in str(refusal.value) for scheme in KINDS)


def test_a_kind_without_its_client_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_: Any) -> None: ...

    monkeypatch.setattr("operations.sources.open.find_spec", missing)
    with pytest.raises(InvalidInput, match=r"pip install 'lightstream-rag\[sources\]'"):
        open_source("git+https://example.org/x.git")


async def test_a_repository_whose_host_is_away_says_so_in_a_few_words() -> None:
    source = open_source("git+http://127.0.0.1:1/port.git")
    with pytest.raises(Unavailable, match=r"fetched: its host does not answer \(\w+\)$"):
        await source.list_items("")


def test_a_folder_is_in_the_log_by_its_whole_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "minutes").mkdir()
    monkeypatch.chdir(tmp_path)
    assert name_in_log("./minutes") == (tmp_path / "minutes").as_uri()
    assert name_in_log("s3://harbour/minutes") == "s3://harbour/minutes"


def test_credentials_come_from_the_environment_or_files_of_it(tmp_path: Path) -> None:
    (tmp_path / "password").write_text("secret\n", "utf-8")
    environ = {"SOURCE_USER": "ada", "SOURCE_PASSWORD_FILE": str(tmp_path / "password")}
    assert credentials(environ=environ) == ("ada", "secret")
    assert credentials("olga", environ={"SOURCE_PASSWORD": "other"}) == ("olga", "other")

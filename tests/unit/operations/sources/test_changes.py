"""When a folder is looked at: before the first change, at each, and when it comes back."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from operations.sources import changes
from operations.sources.changes import changes_of

LONG = 600.0
"""Seconds between looks: none happens in a test for this reason alone."""


async def look(looks: AsyncGenerator[None]) -> None:
    """Wait for the next look."""
    await asyncio.wait_for(anext(looks), 20)


async def test_a_change_during_the_first_look_is_told(tmp_path: Path) -> None:
    looks = changes_of(str(tmp_path), LONG)
    await look(looks)
    (tmp_path / "a.md").write_text("Ada leads.", "utf-8")
    await look(looks)
    await looks.aclose()


async def test_hidden_files_are_no_change(tmp_path: Path) -> None:
    looks = changes_of(str(tmp_path), LONG)
    await look(looks)
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git/index.md").write_text("x", "utf-8")
    waiting = asyncio.create_task(look(looks))
    await asyncio.wait([waiting], timeout=3)
    assert not waiting.done()
    (tmp_path / "a.md").write_text("Ada leads.", "utf-8")
    await waiting
    await looks.aclose()


@pytest.mark.parametrize("is_new", [True, False], ids=["a new folder", "the same one"])
async def test_a_folder_that_is_gone_is_told_once_and_watched_when_it_is_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_new: bool
) -> None:
    monkeypatch.setattr(changes, "ABSENCE", 0.05)
    folder, elsewhere = tmp_path / "minutes", tmp_path / "elsewhere"
    folder.mkdir()
    looks = changes_of(folder.as_uri(), LONG)
    await look(looks)
    folder.rename(elsewhere)
    await look(looks)
    assert not folder.exists()
    if is_new:
        folder.mkdir()
    else:
        elsewhere.rename(folder)
    await look(looks)
    (folder / "a.md").write_text("Ada leads.", "utf-8")
    await look(looks)
    await looks.aclose()


async def test_what_tells_no_changes_is_looked_at_from_time_to_time(tmp_path: Path) -> None:
    for address in (str(tmp_path), "https://example.org/sitemap.xml"):
        looks = changes_of(address, 0.05)
        for _ in range(3):
            await look(looks)
        await looks.aclose()

"""How a document is cut that does not say it: by its workspace, and with the size of the way."""

import pytest

from contracts.chunking import Chunking
from contracts.ids import branch_workspace
from runtime.errors import ConfigurationError
from services.chunker.settings import ChunkerSettings

SETTINGS = ChunkerSettings(
    chunk_strategy_workspaces="legal:paragraph; notes : recursive_character",
    chunk_p_size=2000,
    chunk_r_size=100,
    chunk_r_overlap_size=0,
)


@pytest.mark.parametrize(
    ("workspace", "own", "expected"),
    [
        ("other", None, Chunking.by("token", size=1200, overlap=100)),
        ("legal", None, Chunking.by("paragraph", size=2000, overlap=100)),
        (
            branch_workspace("legal", "trial"),
            None,
            Chunking.by("paragraph", size=2000, overlap=100),
        ),
        ("notes", None, Chunking.by("recursive", size=100, overlap=0)),
        ("notes", Chunking(size=60), Chunking.by("recursive", size=60, overlap=0)),
        ("legal", Chunking.by("token"), Chunking.by("token", size=1200, overlap=100)),
        ("other", Chunking.by("paragraph"), Chunking.by("paragraph", size=2000, overlap=100)),
        ("legal", Chunking(split_by_character="|"), Chunking.by("token", size=1200, overlap=100)),
    ],
)
def test_what_a_document_does_not_say_its_workspace_and_its_way_do(
    workspace: str, own: Chunking | None, expected: Chunking
) -> None:
    chunking = SETTINGS.chunking_defaults.of(workspace, own)
    assert chunking.model_copy(update={"split_by_character": None}) == expected


@pytest.mark.parametrize(
    ("variable", "value", "reason"),
    [
        ("CHUNK_STRATEGY_WORKSPACES", "legal", "no workspace:way"),
        ("CHUNK_STRATEGY_WORKSPACES", "legal:sliding", "'sliding'"),
        ("CHUNK_P_OVERLAP_SIZE", "700", "CHUNK_P_OVERLAP_SIZE 700 must be at most half"),
    ],
)
def test_a_setting_of_no_use_is_refused_at_the_start(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, reason: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(ConfigurationError, match=reason):
        ChunkerSettings()

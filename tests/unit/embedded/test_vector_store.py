"""Where the stack of a data folder keeps its vectors: the file that is there decides."""

from pathlib import Path

import pytest

from embedded.addresses import service_addresses
from embedded.data_folder import DataFolder, StackState
from embedded.vector_store import choose_vector_store, uses_milvus_lite
from runtime.errors import InvalidInput

STATE = StackState(ports={"bus": 1, "graph": 2, "vectors": 3})


def address(folder: DataFolder) -> str:
    return service_addresses(folder, STATE)["milvus_uri"]


def test_a_new_stack_has_a_sqlite_file_unless_it_is_asked_for_milvus(tmp_path: Path) -> None:
    usual, other = DataFolder(tmp_path / "usual"), DataFolder(tmp_path / "other")
    choose_vector_store(usual, "sqlite")
    assert address(usual) == f"sqlite://{tmp_path}/usual/vectors/vectors.sqlite"
    for _ in range(2):
        choose_vector_store(other, "milvus")
    assert address(other) == "http://127.0.0.1:3"


def test_a_stack_with_milvus_lite_goes_on_with_it_and_the_other_is_refused(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    (tmp_path / "vectors").mkdir()
    (tmp_path / "vectors" / "vectors.db").touch()
    assert uses_milvus_lite(tmp_path)
    with pytest.raises(InvalidInput, match="rebuild vectors --fresh"):
        choose_vector_store(folder, "sqlite")
    (tmp_path / "vectors" / "vectors.db").rename(tmp_path / "vectors" / "vectors.sqlite")
    assert address(folder).endswith("/vectors/vectors.sqlite")
    with pytest.raises(InvalidInput, match="SQLite file and stay there"):
        choose_vector_store(folder, "milvus")

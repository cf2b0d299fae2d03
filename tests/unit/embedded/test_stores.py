"""Where the stack of a data folder keeps graph and vectors: the files that are there decide."""

from pathlib import Path

import pytest

from embedded import stores
from embedded.addresses import service_addresses
from embedded.data_folder import DataFolder, StackState
from embedded.stores import GRAPH, STORES, VECTORS, FolderStore, servers_of
from runtime.errors import ConfigurationError, InvalidInput

STATE = StackState(ports={"bus": 1, "graph": 2, "vectors": 3})
SETTINGS = {"graph": "neo4j_uri", "vectors": "milvus_uri"}
SERVERS = {"graph": "bolt://127.0.0.1:2", "vectors": "http://127.0.0.1:3"}

every_store = pytest.mark.parametrize("store", STORES, ids=lambda store: store.name)


def address(folder: DataFolder, store: FolderStore) -> str:
    return service_addresses(folder, STATE)[SETTINGS[store.name]]


@every_store
def test_a_new_stack_has_a_sqlite_file_unless_it_is_asked_for_the_server(
    tmp_path: Path, store: FolderStore
) -> None:
    usual, other = DataFolder(tmp_path / "usual"), DataFolder(tmp_path / "other")
    store.begin(usual, "sqlite")
    assert address(usual, store) == f"sqlite://{usual.path}/{store.name}/{store.name}.sqlite"
    for _ in range(2):
        store.begin(other, store.server.name)
    assert address(other, store) == SERVERS[store.name]
    assert servers_of(other.path) == (store,)
    assert [path for path in other.path.rglob("*") if path.stat().st_mode & 0o077] == []


@every_store
def test_a_stack_with_a_server_goes_on_with_it_and_the_other_is_refused(
    tmp_path: Path, store: FolderStore
) -> None:
    folder = DataFolder(tmp_path)
    (tmp_path / store.name).mkdir()
    data = tmp_path / store.name / store.server.data
    store.server.make_data(data)
    assert store.has_server(tmp_path)
    way_out = f"lightstream rebuild {store.name} --fresh --data {tmp_path}"
    with pytest.raises(InvalidInput, match=way_out):
        store.begin(folder, "sqlite")
    data.rename(tmp_path / store.name / store.file)
    assert address(folder, store).endswith(f"/{store.file}")
    with pytest.raises(InvalidInput, match="SQLite file and keeps it there"):
        store.begin(folder, store.server.name)


@every_store
def test_a_server_that_is_not_installed_is_named_with_both_ways_out(
    tmp_path: Path, store: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, new = DataFolder(tmp_path / "data"), DataFolder(tmp_path / "new")
    store.begin(folder, store.server.name)
    assert store.describe_missing_server(folder) == ""
    monkeypatch.setattr(stores, "find_spec", lambda _: None)
    sentence = store.describe_missing_server(folder)
    assert f"pip install 'lightstream-rag[{store.server.extra}]'" in sentence
    assert f"`lightstream rebuild {store.name} --fresh --data {folder.path}`" in sentence
    assert store.describe_missing_server(new) == ""
    with pytest.raises(ConfigurationError, match="is not installed"):
        store.begin(new, store.server.name)
    assert not new.path.exists()


def test_only_what_is_asked_for_is_a_server(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    GRAPH.begin(folder, "sqlite")
    VECTORS.begin(folder, "milvus")
    assert servers_of(tmp_path) == (VECTORS,)
    GRAPH.begin(folder, "arcadedb")
    assert servers_of(tmp_path) == STORES

"""Moving to other stores: what may be filled, what is copied beside the replay, and where a
repeated move goes on.
"""

from pathlib import Path
from typing import Any, cast

import pytest
from nats.js import JetStreamContext

from cli.stack import describe_stack
from contracts.graph import PROJECTIONS, Entity, Generations, Partition
from contracts.partitions import LogPosition, first_sequence
from embedded.addresses import service_addresses
from embedded.data_folder import DataFolder, StackState
from embedded.environment import settings_from
from offline.embeddings.lexical import LexicalEmbedder
from operations.digest import Stores
from operations.empty_stores import empty_stores
from operations.generations import TABLES
from operations.moving.copied_tables import COPIED, copy_tables, empty
from operations.moving.destination import (
    MARK,
    addresses,
    mark_of,
    read_destination,
    require_ours,
)
from operations.moving.move import Sides
from operations.moving.placing import OWN, use_stores
from operations.rebuild import Rebuild
from operations.target import Target
from runtime.bus.memory import MemoryLiveGenerations, MemoryLog
from runtime.errors import Busy, InvalidInput
from runtime.projections.embedding import EmbeddedVectors
from runtime.settings import Settings
from runtime.stores.documents.checkpoints import LOG_KEY
from runtime.stores.documents.memory import MemoryRows
from runtime.stores.documents.port import INDEXES, Table
from runtime.stores.documents.schema import CHECKPOINTS
from runtime.stores.port import Checkpoint
from services.merger.settings import MergerSettings
from tests.unit.operations.test_bulk_load import TOTAL, digests, recorded, stores
from tests.unit.operations.test_recorded_digests import DIGESTS

HERE = {
    "NATS_URL": "nats://operator:secret@127.0.0.1:4222",
    "DOCUMENTS_URL": "sqlite:///srv/documents.db",
    "NEO4J_URI": "bolt://127.0.0.1:7687",
    "NEO4J_PASSWORD": "present",
    "MILVUS_URI": "http://127.0.0.1:19530",
    "MILVUS_INDEX_TYPE": "FLAT",
    "EMBEDDING_MODEL": "lexical",
}
THERE = """
# the new servers
DOCUMENTS_URL=mongodb://user:key@mongo:27017
export NEO4J_URI='bolt://neo4j:7687'
MILVUS_URI=http://milvus:19530
EMBEDDING_MODEL=another
"""
TARGET = Target("the stack", settings_from(Settings, HERE), "http://127.0.0.1:9621", environ=HERE)
MADE = mark_of("2026", {"graph": "bolt://neo4j:7687/neo4j", "vectors": "http://milvus:19530"})


def file_of(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "there.env"
    path.write_text(text, "utf-8")
    return path


def test_a_destination_has_the_stores_of_the_file_and_all_else_as_it_is(tmp_path: Path) -> None:
    settings = read_destination(file_of(tmp_path, THERE), TARGET)
    assert addresses(settings) == {
        "documents": "mongodb://mongo:27017/lightstream",
        "graph": "bolt://neo4j:7687/neo4j",
        "vectors": "http://milvus:19530",
    }
    assert (settings.nats_url, settings.embedding_model) == (HERE["NATS_URL"], "lexical")
    assert settings.milvus_index_type == "HNSW"
    assert settings.neo4j_password.get_secret_value() == "", (
        "the present store's password went to the other"
    )


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (
            "NEO4J_URI=bolt://localhost:7687",
            "graph is where this stack has it: bolt://127.0.0.1:7687",
        ),
        ("DOCUMENTS_URL=sqlite:///srv/documents.db", "documents is where"),
        ("MILVUS_URI=http://root:key@127.0.0.1:19530", "vectors is where"),
        ("NATS_URL=nats://elsewhere:4222", "another bus than nats://127.0.0.1:4222: the log stays"),
    ],
)
def test_no_present_store_and_no_other_bus_is_a_destination(
    tmp_path: Path, line: str, sentence: str
) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        read_destination(file_of(tmp_path, f"{THERE}\n{line}\n"), TARGET)


def test_the_present_bus_may_be_named_with_other_credentials(tmp_path: Path) -> None:
    settings = read_destination(
        file_of(tmp_path, f"{THERE}\nNATS_URL=nats://other@localhost:4222\n"), TARGET
    )
    assert settings.nats_url == HERE["NATS_URL"]


def test_a_file_without_stores_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="does not name NEO4J_URI, MILVUS_URI"):
        read_destination(file_of(tmp_path, "MONGO_URI=mongodb://a:1,b:2/?replicaSet=r\n"), TARGET)
    with pytest.raises(InvalidInput, match="cannot be read as a URL"):
        read_destination(file_of(tmp_path, f"{THERE}\nMILVUS_URI=http://[1:19530\n"), TARGET)


def test_the_stack_of_a_folder_uses_the_stores_of_a_file_until_it_is_to_use_its_own(
    tmp_path: Path,
) -> None:
    folder = DataFolder.at(tmp_path / "data")
    file = file_of(tmp_path, THERE)
    with pytest.raises(InvalidInput, match="there is no stack"):
        use_stores(folder, OWN)
    (folder.path / "bus").mkdir(parents=True)
    folder.write(StackState(ports={"bus": 4222, "graph": 1, "vectors": 2}, bus_password="secret"))
    own_addresses = service_addresses(folder, folder.read())
    use_stores(folder, str(file))
    state = folder.read()
    given_addresses = service_addresses(folder, state)
    assert (given_addresses["documents_url"], given_addresses["neo4j_uri"]) == (
        "mongodb://user:key@mongo:27017",
        "bolt://neo4j:7687",
    )
    # What the file leaves out is as where nothing says so, whatever the shell of the next start
    # has.
    assert given_addresses.keys() >= own_addresses.keys() and (
        given_addresses["milvus_token"],
        given_addresses["milvus_index_type"],
    ) == ("", "HNSW")
    assert given_addresses["nats_url"] == own_addresses["nats_url"]
    assert describe_stack(folder, state)["stores"] == [
        "mongodb://mongo:27017",
        "bolt://neo4j:7687",
        "http://milvus:19530",
    ]
    assert Target("the stack", Settings(), "", folder).folder_of_stores is None
    with pytest.raises(InvalidInput, match="stores elsewhere"):
        empty_stores(folder, "graph", print)
    with folder.lock(), pytest.raises(Busy):
        use_stores(folder, OWN)
    use_stores(folder, OWN)
    assert service_addresses(folder, folder.read()) == own_addresses
    assert Target("the stack", Settings(), "", folder).folder_of_stores == folder


async def test_only_empty_stores_are_filled_or_those_that_a_move_of_this_log_began_to_fill() -> (
    None
):
    memory_stores = stores()
    await memory_stores.vectors.prepare(1)
    await require_ours(memory_stores, MADE)
    for name in ("documents", "embeddings", "chain"):
        used_stores = stores()
        await used_stores.rows.put(Table(name, Partition("w", 0)), {"a": {"status": "x"}})
        with pytest.raises(InvalidInput, match="document store already holds data"):
            await require_ours(used_stores, MADE)
    await memory_stores.graph.put(Partition("w", 1), [Entity("Ada", revision=1)], [])
    with pytest.raises(InvalidInput, match="graph store already holds"):
        await require_ours(memory_stores, MADE)
    await memory_stores.rows.put(CHECKPOINTS, {MARK: MADE})
    await require_ours(memory_stores, MADE)
    with pytest.raises(InvalidInput, match="not as a copy of this log"):
        await require_ours(memory_stores, {**MADE, "log": "2027"})
    filled_stores = stores()
    await filled_stores.vectors.put_checkpoint(3, Checkpoint(7, "2026"))
    with pytest.raises(InvalidInput, match="vector store already holds"):
        await require_ours(filled_stores, MADE)


async def test_caches_and_chains_are_copied_and_what_is_the_same_is_not_written_again() -> None:
    source = MemoryRows()
    to = MemoryRows()
    for name in COPIED:
        await source.put(
            Table(name, Partition("w", 0)), {str(number): {"n": number} for number in range(1200)}
        )
    await source.put(
        CHECKPOINTS, {LOG_KEY: {"sequence": 9}, "graph.1": {"sequence": 9, "log": "2026"}}
    )
    assert await copy_tables(source, to) == dict.fromkeys(COPIED, 1200)
    assert await to.scan(CHECKPOINTS) == [(LOG_KEY, {"sequence": 9})]
    table = Table("chain", Partition("w", 0))
    await source.put(table, {"7": {"n": 8}, "new": {"n": 1}})
    assert await copy_tables(source, to) == {**dict.fromkeys(COPIED, 0), "chain": 2}
    assert await to.scan(table, limit=2000) == await source.scan(table, limit=2000)


def test_every_table_is_replayed_copied_or_of_one_store_alone() -> None:
    replayed_tables = {name for names in TABLES.values() for name in names}
    replayed_tables |= {"extractions", "figure_descriptions"}
    assert replayed_tables | set(COPIED) | {"schema", "checkpoints"} == set(INDEXES)


def both(target: Stores, log: str = "2026", partition_count: int = 1) -> Sides:
    embedder = LexicalEmbedder(64)
    embedding = EmbeddedVectors(embedder, embedder, target.vectors)
    bus = cast(JetStreamContext, None)
    return Sides(bus, Generations(1, 1, 1), target, target, embedding, log, partition_count)


def work(log: MemoryLog, target: Stores, **fields: Any) -> Rebuild:
    return Rebuild(
        log,
        MemoryLiveGenerations(),
        target,
        LexicalEmbedder(64),
        PROJECTIONS,
        lambda _: None,
        MergerSettings(),
        generations=Generations(1, 1, 1),
        **fields,
    )


@pytest.mark.parametrize("first", [1, TOTAL // 2, TOTAL])
async def test_a_move_that_goes_on_has_the_digests_of_one_that_read_the_whole_log(
    first: int,
) -> None:
    full_log = recorded(MemoryLog())
    log = MemoryLog()
    target = stores()
    log.messages = full_log.messages[:first]
    first_run = work(log, target)
    await first_run.load()
    await first_run.catch_up()
    assert await both(target).position() == LogPosition.start()
    await both(target).record(first_run.position)
    log.messages = full_log.messages
    position = await both(target).position()
    assert position == LogPosition((first,))
    again = work(log, target, position=position)
    await again.catch_up()
    assert again.events == TOTAL - first
    assert await digests(target, Generations(1, 1, 1)) == DIGESTS


async def test_it_begins_anew_where_one_store_lost_its_checkpoint_or_has_that_of_another_log() -> (
    None
):
    target = stores()
    await both(target).record(LogPosition((7,)))
    assert await both(target).position() == LogPosition((7,))
    assert await both(target, log="2027").position() == LogPosition.start()
    await target.vectors.drop(1)
    assert await both(target).position() == LogPosition.start()


async def test_of_several_partitions_it_knows_how_far_each_was_filled() -> None:
    target = stores()
    sides = both(target, partition_count=2)
    start = LogPosition.start(2)
    assert await sides.position() == start
    position = start.behind([5, first_sequence(1) + 2])
    await sides.record(position)
    assert await sides.position() == position
    assert await both(target, "2027", 2).position() == start
    await target.vectors.drop(1)
    assert await sides.position() == start


async def test_emptied_stores_hold_nothing() -> None:
    log = recorded(MemoryLog())
    target = stores()
    first_run = work(log, target)
    await first_run.load()
    await both(target).record(first_run.position)
    await target.rows.put(Table("answers", Partition("w", 0)), {"a": {"text": "x"}})
    await empty(target)
    await require_ours(target, MADE)
    assert await target.vectors.generations() == set()
    assert await target.rows.scan(CHECKPOINTS) == []

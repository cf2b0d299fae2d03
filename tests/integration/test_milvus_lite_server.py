"""The embedded vector server shares neither its folder nor its port, and ends with whoever started
it.
"""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from embedded.processes import Process, free_port, listening
from embedded.servers.milvus_lite import DATABASE, milvus_lite, uri
from runtime.errors import ConfigurationError, Unavailable
from runtime.stores.vectors.milvus.store import MilvusVectors
from tests.support.partitions import fresh_partition
from tests.support.servers import missing
from tests.support.vector_stores import row

ROOT = Path(__file__).resolve().parents[2]

SEARCH = """
import asyncio, sys
from runtime.stores.vectors.milvus.store import MilvusVectors
from tests.support.vector_stores import row
from tests.support.partitions import fresh_partition

async def main():
    vectors, partition = MilvusVectors(sys.argv[1], model="m", dimension=8, timeout=20.0), fresh_partition()
    await vectors.put(partition, "chunks", [row("a", text="kept")])
    hits = await vectors.search(partition, "chunks", row("a").vector, top_k=1)
    await vectors.close()
    print(len(hits), "pandas" in sys.modules)

asyncio.run(main())
from pymilvus.orm import schema, types
print(types.infer_dtype_bydata([1.0, 2.0]).name, "pandas" in sys.modules)
print(schema.is_valid_insert_data(sys.modules["pandas"].DataFrame()), schema.is_valid_insert_data("text"))
"""  # noqa: E501


def server(folder: Path, port: int) -> Process:
    try:
        return milvus_lite(folder, port=port)
    except ConfigurationError as error:
        missing(str(error))


@pytest.fixture
async def running(tmp_path: Path) -> AsyncIterator[tuple[Process, int]]:
    port = free_port()
    process = server(tmp_path / "vectors", port)
    await process.start()
    yield process, port
    await process.stop()


async def test_a_second_server_over_the_same_folder_is_refused(
    running: tuple[Process, int], tmp_path: Path
) -> None:
    with pytest.raises(ConfigurationError, match="another process serves"):
        await server(tmp_path / "vectors", free_port()).start()


async def test_a_server_on_a_port_in_use_is_refused(
    running: tuple[Process, int], tmp_path: Path
) -> None:
    first, port = running
    second = server(tmp_path / "other", port)
    with pytest.raises(ConfigurationError, match=f"port {port} is taken"):
        await second.start()
    assert not second.alive
    assert first.alive


async def test_the_folder_is_free_again_when_the_server_was_killed(
    running: tuple[Process, int], tmp_path: Path
) -> None:
    process, port = running
    partition = fresh_partition()
    vectors = MilvusVectors(uri(port), model="m", dimension=8, timeout=5.0)
    await vectors.put(partition, "chunks", [row("a", text="kept")])
    await process.kill()
    await process.start()
    assert (await vectors.get(partition, "chunks", ["a"]))["a"].text == "kept"
    await vectors.close()


async def test_the_server_ends_when_its_starter_is_killed(tmp_path: Path) -> None:
    if sys.platform != "linux":
        pytest.skip("only Linux tells a child that its parent died")
    port = free_port()
    server(tmp_path / "vectors", port)
    script = (
        "import asyncio, pathlib, sys\n"
        "from embedded.servers.milvus_lite import milvus_lite\n"
        "async def main():\n"
        "    process = milvus_lite(pathlib.Path(sys.argv[1]), port=int(sys.argv[2]))\n"
        "    await process.start()\n"
        "    await process.wait()\n"
        "asyncio.run(main())\n"
    )
    starter = await asyncio.create_subprocess_exec(
        sys.executable, "-c", script, str(tmp_path / "vectors"), str(port), cwd=ROOT
    )
    await until_listening(port, True)
    os.kill(starter.pid, signal.SIGKILL)
    await starter.wait()
    await until_listening(port, False)


async def until_listening(port: int, is_expected: bool) -> None:
    end = asyncio.get_running_loop().time() + 20
    while listening(port) is not is_expected:
        assert asyncio.get_running_loop().time() < end
        await asyncio.sleep(0.05)


async def test_a_store_that_nobody_serves_is_unavailable_at_once(tmp_path: Path) -> None:
    vectors = MilvusVectors(uri(free_port()), model="m", dimension=8)
    start = asyncio.get_running_loop().time()
    for call in (
        vectors.ping(),
        vectors.prepare(1),
        vectors.put(fresh_partition(), "chunks", [row("a")]),
    ):
        with pytest.raises(Unavailable):
            await call
    assert asyncio.get_running_loop().time() - start < 5
    await vectors.close()


@pytest.mark.parametrize(
    "address", ["vectors.db", "tcp://user:secret@127.0.0.1:1", "", "127.0.0.1:19530"]
)
def test_an_address_that_is_no_url_is_refused_without_repeating_it(address: str) -> None:
    with pytest.raises(ConfigurationError, match="http") as refusal:
        MilvusVectors(address, model="m", dimension=8)
    assert "secret" not in str(refusal.value)


def test_an_index_that_is_not_offered_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="FLAT"):
        MilvusVectors("http://127.0.0.1:19530", model="m", dimension=8, index_type="DISKANN")


async def test_the_client_searches_without_pandas_and_loads_it_when_asked(
    running: tuple[Process, int],
) -> None:
    _, port = running
    client = await asyncio.create_subprocess_exec(
        sys.executable, "-c", SEARCH, uri(port), cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )
    output, _ = await client.communicate()
    assert output.decode().splitlines() == ["1 False", "FLOAT_VECTOR True", "True False"]


async def test_a_row_takes_little_more_than_its_vector(
    running: tuple[Process, int], tmp_path: Path
) -> None:
    _, port = running
    vectors = MilvusVectors(uri(port), model="m", dimension=384, timeout=5.0)
    numbers = [float(number) for number in range(384)]
    rows = [
        replace(row(f"r{number}", text="x" * 150), vector=(1.0 + number, *numbers[1:]))
        for number in range(400)
    ]
    await vectors.put(fresh_partition(), "chunks", rows)
    await vectors.close()
    assert (tmp_path / "vectors" / DATABASE).stat().st_size < 400 * 2600

"""Who comes from LightRAG with Azure and PostgreSQL: two commands start on the `.env` as it is, a
working folder comes over and answers, and what stands in a folder with scans, a bucket and a
repository is kept in step while the stack runs.
"""

import asyncio
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

import asyncpg
import pytest
from dulwich import porcelain

from tests.support import commands, language_model
from tests.support.language_model import DIMENSION, KEY, LanguageModel
from tests.support.postgres_server import shared_postgres
from tests.support.s3_server import s3_client, s3_server
from tests.support.scans import file_of, scan
from tests.support.shared_servers import SharedServers
from tests.support.stack import MODEL_VARIABLES, Stack, environment, until

pytestmark = pytest.mark.nightly  # each part for itself: test_lightrag_env.py, test_importing.py

LIGHTRAG_FOLDER = (
    Path(__file__).parents[1] / "unit" / "operations" / "importing" / "lightrag_folder"
)
DATABASE = "newcomer"
AUTHOR = b"Ada <ada@example.org>"

FILE = """
### the lines that LightRAG's example has by itself
HOST=0.0.0.0
PORT=9621
WEBUI_TITLE='My Graph KB'
WEBUI_DESCRIPTION="Simple and Fast Graph Based RAG System"
OLLAMA_EMULATING_MODEL_TAG=latest
RERANK_BINDING=null
ENABLE_LLM_CACHE_FOR_EXTRACT=true
SUMMARY_LANGUAGE=English
MAX_ASYNC=4
MAX_PARALLEL_INSERT=2
OLLAMA_LLM_NUM_CTX=32768
OLLAMA_EMBEDDING_NUM_CTX=8192
POSTGRES_MAX_CONNECTIONS=12
POSTGRES_ENABLE_VECTOR=true
POSTGRES_VECTOR_INDEX_TYPE=HNSW
POSTGRES_HNSW_M=16
POSTGRES_HNSW_EF=200
POSTGRES_VCHORDRQ_BUILD_OPTIONS=
NEO4J_URI=neo4j+s://xxxxxxxx.databases.neo4j.io
NEO4J_USERNAME=neo4j
NEO4J_PASSWORD='your_password'
NEO4J_DATABASE=neo4j
MONGO_URI=mongodb://localhost:27017/
MONGO_DATABASE=LightRAG
MILVUS_URI=http://localhost:19530
MILVUS_DB_NAME=lightrag
QDRANT_URL=http://localhost:6333
REDIS_URI=redis://localhost:6379
MEMGRAPH_URI=bolt://localhost:7687
### Azure, as its example is written
AZURE_OPENAI_API_VERSION=2024-08-01-preview
LLM_BINDING=azure_openai
LLM_BINDING_HOST={azure}/
LLM_BINDING_API_KEY={key}
LLM_MODEL=my-gpt-mini-deployment
EMBEDDING_BINDING=azure_openai
EMBEDDING_BINDING_HOST={azure}/
EMBEDDING_API_KEY={key}
EMBEDDING_MODEL=my-text-embedding-3-large-deployment
EMBEDDING_DIM={dimension}
EMBEDDING_TOKEN_LIMIT=8192
EMBEDDING_SEND_DIM=false
AZURE_EMBEDDING_API_VERSION=2024-08-01-preview
### PostgreSQL for all
LIGHTRAG_KV_STORAGE=PGKVStorage
LIGHTRAG_DOC_STATUS_STORAGE=PGDocStatusStorage
LIGHTRAG_GRAPH_STORAGE=PGGraphStorage
LIGHTRAG_VECTOR_STORAGE=PGVectorStorage
POSTGRES_HOST={server.hostname}
POSTGRES_PORT={server.port}
POSTGRES_USER={server.username}
POSTGRES_PASSWORD='{server.password}'
POSTGRES_DATABASE=newcomer
"""


class Newcomer(Stack):
    """A stack whose models and stores are named by the file `.env` alone."""

    def run(self, *arguments: str, stdin: str | None = None) -> commands.Done:
        """A command of the command line, in the folder of the file."""
        variables = environment(self.env)
        for name in [name for name in variables if name.startswith(MODEL_VARIABLES)]:
            del variables[name]
        command = [*arguments, "--data", str(self.folder)]
        return commands.give(command, variables, self.folder.parent, stdin)


async def run_statement(url: str, statement: str) -> None:
    connection: Any = await asyncpg.connect(url)
    try:
        await connection.execute(statement)
    finally:
        await connection.close()


@pytest.fixture(scope="module")
def model() -> Generator[LanguageModel]:
    with language_model.serving() as model:
        yield model


@pytest.fixture(scope="module")
def database(shared_servers: SharedServers) -> Generator[SplitResult]:
    """The address of a database of its own."""
    url = shared_postgres(shared_servers)
    asyncio.run(run_statement(url, f"CREATE DATABASE {DATABASE}"))
    yield urlsplit(url)
    asyncio.run(run_statement(url, f"DROP DATABASE {DATABASE} WITH (FORCE)"))


@pytest.fixture(scope="module")
def stack(
    tmp_path_factory: pytest.TempPathFactory, model: LanguageModel, database: SplitResult
) -> Generator[Newcomer]:
    """What the first of the two commands starts."""
    folder = tmp_path_factory.mktemp("newcomer")
    azure = model.url.removesuffix("/v1")
    text = FILE.format(azure=azure, key=KEY, dimension=DIMENSION, server=database)
    (folder / ".env").write_text(text, "utf-8")
    stack = Newcomer(folder / "data")
    stack.up("--stores", ".env")
    yield stack
    stack.down()


def test_two_commands_start_and_index_with_azure_and_postgresql(
    stack: Newcomer, model: LanguageModel
) -> None:
    notes = stack.folder.parent / "notes"
    notes.mkdir()
    (notes / "office.txt").write_text("Ada Marlow leads the Harbour Office.", "utf-8")
    added = stack.run("add", str(notes), "--wait")
    assert added.returncode == 0, added.stderr
    chat = "/openai/deployments/my-gpt-mini-deployment/chat/completions"
    vectors = "/openai/deployments/my-text-embedding-3-large-deployment/embeddings"
    version = "api-version=2024-08-01-preview"
    assert set(model.paths) == {f"{path}?{version}" for path in (chat, vectors)}
    model.quotation = LEADER
    assert "Ada Marlow leads" in stack.run("ask", QUESTION).stdout
    settings = stack.settings
    stores = (settings.documents_url.get_secret_value(), settings.neo4j_uri, settings.milvus_uri)
    assert all(store.startswith("postgresql://") for store in stores)


def test_a_folder_of_lightrag_is_imported_and_answers(
    stack: Newcomer, model: LanguageModel
) -> None:
    here = ("--workspace", "imported")
    extractions = model.calls["extract"]
    done = stack.run("import", "lightrag", str(LIGHTRAG_FOLDER), "--wait", *here)
    assert done.returncode == 0, done.stderr
    assert model.calls["extract"] == extractions
    model.quotation = r"Jonas Kell has run the Tide Mill[^.\n]*\."
    answer = stack.run("ask", "Who has run the Tide Mill?", *here)
    assert "since the great flood" in answer.stdout


LEADER = r"(?<=[ \"\n])\w+ \w+ leads the Harbour Office\."
QUESTION = "Who leads the Harbour Office?"


def test_sources_change_on_a_running_stack_and_answers_with_them(
    stack: Newcomer, model: LanguageModel, tmp_path: Path
) -> None:
    asyncio.run(synced_sources(stack, model, tmp_path))


async def synced_sources(stack: Newcomer, model: LanguageModel, folder: Path) -> None:
    async with s3_server(folder) as variables:
        stack.env.update(variables)
        places = {
            "scans": scans_in(folder),
            "bucket": bucket_of(variables),
            "repository": repository_in(folder),
        }
        for name, (address, write) in places.items():
            await asyncio.to_thread(answers_follow, stack, model, name, address, write)


Write = Callable[[str], None]


def answers_follow(
    stack: Newcomer, model: LanguageModel, workspace: str, address: str, write: Write
) -> None:
    """Sync one source, change it, and ask both times."""
    model.quotation = LEADER
    here = ("--workspace", workspace)
    for leader in ("Ada Marlow", "Olga Finch"):
        write(f"{leader} leads the Harbour Office.")
        outcome: Any = stack.json("sync", address, *here)
        assert len(outcome[0]["additions"]) == 1, outcome
        stack.settled(1, workspace)
        until(lambda leader=leader: f"{leader} leads" in stack.run("ask", QUESTION, *here).stdout)


def scans_in(folder: Path) -> tuple[str, Write]:
    """A folder of scanned pages."""
    scans = folder / "scans"
    scans.mkdir()

    def write(text: str) -> None:
        (scans / "minutes.png").write_bytes(file_of(scan([text])))

    return scans.as_uri(), write


def bucket_of(variables: dict[str, str]) -> tuple[str, Write]:
    """A bucket."""
    client = s3_client(variables)
    client.create_bucket(Bucket="harbour")

    def write(text: str) -> None:
        client.put_object(Bucket="harbour", Key="minutes/office.md", Body=text.encode())

    return "s3://harbour/minutes", write


def repository_in(folder: Path) -> tuple[str, Write]:
    """A repository of Git."""
    root = folder / "port"
    repository = porcelain.init(str(root))

    def write(text: str) -> None:
        (root / "office.md").write_text(text, "utf-8")
        porcelain.add(repository, [str(root / "office.md")])
        porcelain.commit(repository, message=b"more", author=AUTHOR, committer=AUTHOR)

    return f"git+{root.as_uri()}", write

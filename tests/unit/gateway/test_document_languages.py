"""In which languages documents are: of some passages, of those that the caller sees, and with what
the model of their vectors knows.
"""

from contracts.graph import Partition
from services.query.status.passage_sample import SAMPLE_SIZE, sample_passages
from tests.support.access import client
from tests.support.querying import QueryHarness
from tests.unit.indexer.test_passage_languages import ENGLISH, GERMAN

PATH = "/documents/languages"


async def test_languages_are_counted_by_passage_and_lexical_vectors_lack_none() -> None:
    harness = QueryHarness()
    await harness.index("pier", ENGLISH, GERMAN)
    await harness.index("mole", GERMAN, GERMAN + " Noch einmal.", version=20)
    await harness.index("else", ENGLISH, workspace="other")
    async with client(harness.app()) as api:
        answer = (await api.get(PATH)).json()
        empty = (await api.get(PATH, headers={"X-Workspace": "empty"})).json()
    assert answer == {
        "passages": 4,
        "languages": {"german": 3, "english": 1},
        "embedding_model": "lexical",
        "unknown_language": "",
        "advised_model": "",
    }
    assert (empty["passages"], empty["languages"]) == (0, {})


async def test_a_model_that_knows_the_language_is_advised() -> None:
    harness = QueryHarness()
    harness.vectors.model = "all-MiniLM-L6-v2-int8-dynamic@1"
    await harness.index("mole", GERMAN)
    async with client(harness.app()) as api:
        answer = (await api.get(PATH)).json()
    assert (answer["embedding_model"], answer["unknown_language"]) == ("minilm", "german")
    assert answer["advised_model"] == "multilingual"


async def test_a_sample_is_of_several_documents_and_of_those_that_are_seen() -> None:
    harness = QueryHarness()
    partition = Partition("w", 1)
    texts = [f"Line {number}." for number in range(200)]
    for number, name in enumerate(("doc-0a", "doc-7b", "doc-fc")):
        await harness.index(name, *texts, version=1 + 1000 * number)
    sample = await sample_passages(harness.passages, partition)
    assert {passage.document_id for passage in sample} == {"doc-0a", "doc-7b", "doc-fc"}
    assert len(sample) < SAMPLE_SIZE
    seen = await sample_passages(harness.passages, partition, {"doc-7b"})
    assert {passage.document_id for passage in seen} == {"doc-7b"}

"""Batches of OpenAI and Anthropic, on a server that the official clients of both have read first:
every call is paid once, whoever is killed in between.
"""

import json
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import anthropic
import openai
import pytest

from contracts.values import DocumentVersion, TokenUsage
from runtime.bus.memory import MemorySharedValues
from runtime.bus.port import AllWanted, Obsolete
from runtime.errors import AwaitingBatch
from runtime.models.batches.gathering import BatchCall
from runtime.models.batches.port import Batches, Line, Undecided
from runtime.models.batches.providers import open_batches
from runtime.models.batches.queue import BatchQueue
from runtime.models.batches.records import BatchRecord, BatchRecords
from runtime.models.batches.rules import BatchRules, WantedCalls
from runtime.models.bindings import Connection
from runtime.models.chat import FIRST_ANSWER, EndpointChat
from runtime.models.endpoint import Endpoint
from runtime.models.limits import Limits
from runtime.models.port import Message
from runtime.models.rate_limiter import RateLimiter
from runtime.models.wires.open import open_wire
from tests.support.model_servers import batch_jobs
from tests.support.model_servers.batch_jobs import EXPIRED, FAILED, KEY, BatchJobs

ADDED_AT = datetime(2026, 3, 14, tzinfo=UTC)
ALICE = "Alice sails."


def answer_of_openai(body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    text = f"Of {body['messages'][-1]['content']}"
    choice = {"index": 0, "message": {"role": "assistant", "content": text}}
    usage = {"prompt_tokens": 9000, "completion_tokens": 5, "total_tokens": 9005}
    answer = {"id": "c", "object": "chat.completion", "created": 1, "model": body["model"]}
    return 200, {**answer, "choices": [{**choice, "finish_reason": "stop"}], "usage": usage}


def answer_of_anthropic(body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    text = f"Of {body['messages'][-1]['content']}"
    usage = {"input_tokens": 9000, "output_tokens": 5}
    message = {"id": "m", "type": "message", "role": "assistant", "model": body["model"]}
    content = [{"type": "text", "text": text}]
    return 200, {
        **message,
        "content": content,
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": usage,
    }


@pytest.fixture(params=["openai", "azure_openai", "anthropic"])
def binding(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def jobs(binding: str) -> Iterator[BatchJobs]:
    answer = answer_of_anthropic if binding == "anthropic" else answer_of_openai
    with batch_jobs.serving(BatchJobs(answer)) as jobs:
        yield jobs


@pytest.fixture
async def chat(binding: str, jobs: BatchJobs) -> AsyncIterator[EndpointChat]:
    address = jobs.url if binding == "azure_openai" else f"{jobs.url}/v1"
    wire = open_wire(binding, Connection(address, KEY, batch_deployment="batches"))
    endpoint = Endpoint(wire, RateLimiter("m", Limits(calls=4)), 10.0, "LLM")
    chat = EndpointChat(endpoint, "m", {"max_tokens": 100})
    yield chat
    await chat.close()


@pytest.fixture
def provider(chat: EndpointChat) -> Batches:
    batches = open_batches(chat.endpoint)
    assert batches
    return batches


def lines_of(chat: EndpointChat, *texts: str) -> list[Line]:
    return [
        Line(f"key-{place}", chat.body([Message("user", text)])) for place, text in enumerate(texts)
    ]


OFFICIAL_CLIENTS: dict[str, Callable[[str], openai.AsyncOpenAI]] = {
    "/v1/chat/completions": lambda url: openai.AsyncOpenAI(base_url=f"{url}/v1", api_key=KEY),
    "/chat/completions": lambda url: openai.AsyncAzureOpenAI(
        azure_endpoint=url, api_key=KEY, api_version="2024-10-21"
    ),
}
"""OpenAI's and Azure's, by what the lines of their batches are requests to."""


@pytest.mark.parametrize("route", OFFICIAL_CLIENTS)
async def test_the_official_clients_of_openai_and_azure_read_the_server(route: str) -> None:
    with batch_jobs.serving(BatchJobs(answer_of_openai)) as jobs:
        async with OFFICIAL_CLIENTS[route](jobs.url) as client:
            rows = [
                {
                    "custom_id": f"a-{number}",
                    "method": "POST",
                    "url": route,
                    "body": {"model": "m", "messages": [{"role": "user", "content": text}]},
                }
                for number, text in enumerate((ALICE, EXPIRED, FAILED))
            ]
            data = "".join(json.dumps(row) + "\n" for row in rows).encode()
            file = await client.files.create(file=("in.jsonl", data), purpose="batch")
            file = await client.files.wait_for_processing(file.id, poll_interval=0.05)
            endpoint: Any = route
            batch = await client.batches.create(
                input_file_id=file.id,
                endpoint=endpoint,
                completion_window="24h",
                metadata={"lightstream": "a"},
            )
            assert (await client.batches.retrieve(batch.id)).status == "in_progress"
            jobs.finish()
            batch = (await client.batches.list()).data[0]
            assert batch.status == "completed"
            assert batch.metadata == {"lightstream": "a"}
            assert batch.request_counts
            assert (batch.request_counts.completed, batch.request_counts.failed) == (1, 2)
            assert batch.output_file_id
            assert batch.error_file_id
            output = json.loads((await client.files.content(batch.output_file_id)).text)
            assert output["custom_id"] == "a-0"
            errors = (await client.files.content(batch.error_file_id)).text.splitlines()
            assert {json.loads(line)["custom_id"] for line in errors} == {"a-1", "a-2"}
            assert (await client.files.delete(file.id)).deleted


async def test_the_official_client_of_anthropic_reads_the_server() -> None:
    with batch_jobs.serving(BatchJobs(answer_of_anthropic)) as jobs:
        async with anthropic.AsyncAnthropic(base_url=jobs.url, api_key=KEY) as client:
            batches = client.messages.batches
            batch = await batches.create(
                requests=[
                    {
                        "custom_id": f"a-{number}",
                        "params": {
                            "model": "m",
                            "max_tokens": 9,
                            "messages": [{"role": "user", "content": text}],
                        },
                    }
                    for number, text in enumerate((ALICE, EXPIRED, FAILED))
                ]
            )
            assert batch.request_counts.processing == 3
            jobs.finish()
            assert (await batches.retrieve(batch.id)).processing_status == "ended"
            assert [batch.id async for batch in batches.list()] == [batch.id]
            results = {row.custom_id: row.result async for row in await batches.results(batch.id)}
            kinds = [results[f"a-{number}"].type for number in range(3)]
            assert kinds == ["succeeded", "expired", "errored"]
            assert (await batches.delete(batch.id)).id == batch.id


async def test_a_batch_is_submitted_watched_read_and_removed(
    jobs: BatchJobs, provider: Batches, chat: EndpointChat
) -> None:
    id = await provider.submit("key", lines_of(chat, ALICE, EXPIRED, FAILED))
    assert not (await provider.progress(id)).has_ended
    jobs.finish()
    progress = await provider.progress(id)
    assert (progress.has_ended, progress.answer_count) == (True, 3)
    answers = {line: answer async for line, answer in provider.answers(id)}
    assert (answers["key-1"], answers["key-2"]) == (None, None)
    completion = chat.read(answers["key-0"], [])
    assert completion.text == f"Of {ALICE}"
    assert completion.usage == TokenUsage(prompt=9000, completion=5, calls=1)
    await provider.remove_requests(id)
    await provider.remove(id)
    await provider.remove(id)
    assert set(jobs.files) <= set(jobs.removed)


async def test_a_batch_whose_submission_nobody_saw_is_found(
    jobs: BatchJobs, provider: Batches, chat: EndpointChat, binding: str
) -> None:
    since = time.time() - 60
    await provider.submit("older", lines_of(chat, "Bob"))
    assert await provider.find("key", 2, since, []) is None
    id = await provider.submit("key", lines_of(chat, ALICE, "Carol"))
    if binding == "anthropic":
        with pytest.raises(Undecided):
            await provider.find("key", 2, since, [])
        assert await provider.find("key", 2, since, [id]) is None
        jobs.finish()
    assert await provider.find("key", 2, since, []) == id


@dataclass
class Versions(AllWanted):
    """Documents that were deleted."""

    deleted: set[str] = field(default_factory=set[str])

    async def obsolete(self, workspace: str, document: DocumentVersion) -> Obsolete | None:
        return "deleted" if document.id in self.deleted else None


@dataclass
class Extractor:
    """What replicas share: records, the cache of results, and which documents are deleted."""

    chat: EndpointChat
    provider: Batches
    values: MemorySharedValues = field(default_factory=MemorySharedValues)
    cached: dict[str, str] = field(default_factory=dict[str, str])
    versions: Versions = field(default_factory=Versions)

    def replica(self, settling: float = 0.0, submits: bool = True, poll: float = 0.0) -> BatchQueue:
        """A process that has just started."""

        async def settled(_: str, keys: Sequence[str]) -> set[str]:
            return self.cached.keys() & set(keys)

        rules = BatchRules(lambda _: submits, gather=0.0, poll=poll, settling=settling)
        records = BatchRecords(self.values)
        return BatchQueue(
            self.chat, self.provider, records, WantedCalls(settled, self.versions), rules
        )

    async def open_batches(self) -> list[BatchRecord]:
        return [record.batch for record in await BatchRecords(self.values).read()]


@pytest.fixture
def extractor(chat: EndpointChat, provider: Batches) -> Extractor:
    return Extractor(chat, provider)


def call_of(text: str, document: str = "doc") -> BatchCall:
    version = DocumentVersion(id=document, version=1, added_at=ADDED_AT)
    return BatchCall("w", f"key of {text}", version, [Message("user", text)])


async def wait_for(queue: BatchQueue, *texts: str) -> None:
    for text in texts:
        with pytest.raises(AwaitingBatch):
            await queue.answer(call_of(text))


async def test_calls_wait_for_their_batch_and_are_answered_once(
    jobs: BatchJobs, extractor: Extractor
) -> None:
    replica = extractor.replica()
    others = extractor.replica()
    await wait_for(replica, ALICE, "Bob", FAILED)
    await wait_for(others, ALICE, "Bob", FAILED)
    assert replica.reserved("w").batch_completion == 3 * FIRST_ANSWER
    await replica.look()
    await others.look()
    assert jobs.submissions == 1
    with pytest.raises(AwaitingBatch, match="0 of 3 answered"):
        await others.answer(call_of(ALICE))
    jobs.finish()
    await extractor.replica().look()
    fresh = extractor.replica()
    completion = await fresh.answer(call_of(ALICE))
    assert completion
    assert completion.text == f"Of {ALICE}"
    usage = TokenUsage(prompt=9000, completion=5, calls=1)
    assert completion.usage == usage.as_batch()
    assert await fresh.answer(call_of(FAILED)) is None
    extractor.cached.update({call_of(text).key: text for text in (ALICE, "Bob", FAILED)})
    await fresh.look()
    assert await extractor.open_batches() == []
    assert fresh.reserved("w") == TokenUsage()
    assert set(jobs.files) <= set(jobs.removed)


async def test_what_was_submitted_before_a_crash_is_not_submitted_again(
    jobs: BatchJobs, extractor: Extractor
) -> None:
    jobs.lost = True
    killed = extractor.replica(settling=3600)
    await wait_for(killed, ALICE)
    await killed.look()
    assert [batch.id for batch in await extractor.open_batches()] == [""]
    jobs.lost = False
    early = extractor.replica(settling=3600)
    await early.look()
    await wait_for(early, ALICE)
    await early.look()
    jobs.finish()
    later = extractor.replica()
    await later.look()
    await later.look()
    assert await later.answer(call_of(ALICE))
    assert jobs.submissions == 1


async def test_what_was_not_submitted_before_a_crash_is_gathered_again(
    jobs: BatchJobs, extractor: Extractor
) -> None:
    call = call_of(ALICE)
    now = time.time()
    address = extractor.replica().address
    batch = BatchRecord(
        key="k",
        workspace="w",
        model="m",
        address=address,
        calls=(call.recorded((1, 1)),),
        made_at=now,
        tried_at=now,
    )
    records = BatchRecords(extractor.values)
    assert await records.claim(batch, await records.read_workspace("w"))
    replica = extractor.replica()
    await wait_for(replica, ALICE)
    await replica.look()
    assert jobs.submissions == 0
    await wait_for(replica, ALICE)
    await replica.look()
    assert jobs.submissions == 1


async def test_a_deleted_document_is_dropped_and_its_words_are_removed(
    jobs: BatchJobs, extractor: Extractor
) -> None:
    replica = extractor.replica()
    await wait_for(replica, ALICE)
    await replica.look()
    await wait_for(replica, "Bob")
    extractor.versions.deleted.add("doc")
    await replica.look()
    assert jobs.submissions == 1
    jobs.finish()
    await replica.look()
    await replica.look()
    assert await extractor.open_batches() == []
    assert set(jobs.files) <= set(jobs.removed)


async def test_the_passage_of_a_deleted_document_is_answered_for_its_copy(
    jobs: BatchJobs, extractor: Extractor
) -> None:
    replica = extractor.replica(poll=60.0)
    await wait_for(replica, ALICE)
    await replica.look()
    extractor.versions.deleted.add("doc")
    jobs.finish()
    await replica.look()
    await replica.look()
    assert await replica.answer(call_of(ALICE, "copy"))
    assert jobs.submissions == 1


async def test_a_batch_that_is_refused_is_made_again_later_and_the_reason_is_said(
    jobs: BatchJobs, extractor: Extractor
) -> None:
    jobs.refusal = (429, {"error": {"message": "enqueued token limit reached"}})
    replica = extractor.replica()
    await wait_for(replica, ALICE)
    await replica.look()
    with pytest.raises(AwaitingBatch, match="enqueued token limit reached"):
        await replica.answer(call_of(ALICE))
    assert await extractor.open_batches() == []
    jobs.refusal = None
    await extractor.replica().look()
    for _ in range(200):
        await replica.look()
        if jobs.submissions:
            break
    assert jobs.submissions == 1


async def test_with_batches_switched_off_only_open_ones_are_waited_for(
    jobs: BatchJobs, extractor: Extractor
) -> None:
    await wait_for(before := extractor.replica(), ALICE)
    await before.look()
    off = extractor.replica(submits=False)
    await wait_for(off, ALICE)
    assert await off.answer(call_of("Bob")) is None
    assert jobs.submissions == 1

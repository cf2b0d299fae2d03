"""`/metrics` of the query service: who may read it, and that it names nobody; an answer's stages in
its trace.
"""

import pytest

from runtime.models.scripted import ScriptedChat
from services.query.adapters.models import ModelAnswerGenerator, ModelKeywordExtractor
from services.query.adapters.stages import measured_stage
from tests.support.access import READER, SEVERAL, WRITER, behind, client, keyed
from tests.support.metrics import counted, families, kept_spans, total
from tests.support.querying import library_of_two

QUESTION = {"query": "Who discovered radium?", "mode": "mix"}
TRACE = "0af7651916cd43dd8448eb211c80319c"


async def test_only_who_may_see_the_whole_deployment_reads_the_metrics() -> None:
    app = (await library_of_two()).app(
        behind(lightstream_api_keys=f"{SEVERAL}, prometheus:{'p' * 24}:*:read")
    )
    async with client(app) as stranger:
        assert (await stranger.get("/metrics")).status_code == 403
    for key in (READER, WRITER):
        async with keyed(app, key, "w") as api:
            assert (await api.get("/metrics")).status_code == 403
    async with client(app) as api:
        answer = await api.get("/metrics", headers={"Authorization": f"Bearer {'p' * 24}"})
    assert (answer.status_code, answer.headers["content-type"]) == (
        200,
        "text/plain; version=0.0.4; charset=utf-8",
    )


async def test_stages_and_requests_are_timed_and_no_label_names_a_tenant_or_a_document() -> None:
    harness = await library_of_two()
    before = await counted("lightstream_query_seconds_count", mode="mix", stage="total")
    async with client(harness.app(answering=harness.deps(measure=measured_stage))) as api:
        assert (
            await api.post("/query", json=QUESTION, headers={"X-Workspace": "tenant-9f31"})
        ).status_code == 200
        await api.get("/documents/doc-secret-9f31/status", headers={"X-Workspace": "tenant-9f31"})
        await api.request("BREW-9f31", "/unknown-9f31")
        text = (await api.get("/metrics")).text
    assert total(text, "lightstream_query_seconds_count", mode="mix", stage="total") == before + 1
    assert total(text, "http_server_request_duration_seconds_count", http_route="/query") >= 1
    labels = {
        value
        for family in families(text)
        for sample in family.samples
        for value in sample.labels.values()
    }
    assert "_OTHER" in labels
    assert "9f31" not in text


async def test_an_answers_trace_shows_its_stages(monkeypatch: pytest.MonkeyPatch) -> None:
    spans = kept_spans(monkeypatch)
    harness = await library_of_two()
    chat = ScriptedChat(
        ['{"high_level_keywords": ["radium"], "low_level_keywords": ["Radium"]}', "She did. [1]"]
    )
    deps = harness.deps(
        measure=measured_stage,
        keyword_extractor=ModelKeywordExtractor(chat, "English"),
        answer_generator=ModelAnswerGenerator(chat),
    )
    async with client(harness.app(answering=deps)) as api:
        headers = {"X-Workspace": "w", "traceparent": f"00-{TRACE}-b7ad6b7169203331-01"}
        assert (await api.post("/query", json=QUESTION, headers=headers)).status_code == 200
    spans_by_name = {span.name: span for span in spans.get_finished_spans()}
    assert list(spans_by_name) == [
        "keywords",
        "retrieve",
        "gather",
        "generate",
        "answer",
        "POST request",
    ]
    assert {f"{span.context.trace_id:032x}" for span in spans_by_name.values() if span.context} == {
        TRACE
    }
    answer = spans_by_name["answer"]
    assert answer.parent == spans_by_name["POST request"].context
    assert all(
        spans_by_name[name].parent == answer.context
        for name in ("keywords", "retrieve", "gather", "generate")
    )


async def test_a_streamed_answers_generation_ends_with_its_last_piece(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spans = kept_spans(monkeypatch)
    harness = await library_of_two()
    deps = harness.deps(
        measure=measured_stage,
        answer_generator=ModelAnswerGenerator(ScriptedChat(["She did. [1]"])),
    )
    async with client(harness.app(answering=deps)) as api:
        await api.post("/query/stream", json=QUESTION, headers={"X-Workspace": "w"})
    names = [span.name for span in spans.get_finished_spans()]
    assert names.index("answer") < names.index("generate")

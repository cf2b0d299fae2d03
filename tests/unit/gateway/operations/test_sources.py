"""Sources over HTTP: what each had at its last run, and pausing and resuming one."""

from contracts.events import SourceDocument, SourceSynced
from publishing.sources import read_source
from tests.support.access import READER, SEVERAL, WRITER, behind, keyed
from tests.support.events import sealed
from tests.support.querying import QueryHarness

SOURCES = "/operations/sources"
BUCKET = "s3://harbour/minutes"


async def test_a_source_is_listed_paused_with_a_reason_and_resumed_by_who_may_write() -> None:
    harness = QueryHarness()
    run = SourceSynced(
        source=BUCKET, documents=(SourceDocument(id="a", version="1"),), refusal_count=2
    )
    await harness.log.publish(sealed(run, workspace="w"))
    app = harness.app(behind(lightstream_api_keys=SEVERAL))
    body = {"source": BUCKET, "reason": "the bucket is moved"}
    async with keyed(app, WRITER, "w") as api:
        answer = await api.post(f"{SOURCES}/pause", json=body)
        unknown = await api.post(f"{SOURCES}/pause", json={"source": "s3://other"})
        repeated = await api.post(f"{SOURCES}/pause", json=body)
        assert answer.json() == {"source": BUCKET, "state": "paused", "before": "active"}
        assert repeated.json()["before"] == "paused"
        assert unknown.status_code == 404 and BUCKET in unknown.json()["detail"]
    async with keyed(app, READER, "w") as api:
        (entry,) = (await api.get(SOURCES)).json()
        refusal = await api.post(f"{SOURCES}/resume", json={"source": BUCKET})
        assert refusal.status_code == 403
    assert (entry["state"], entry["state_reason"]) == ("paused", "the bucket is moved")
    assert (entry["documents"], entry["refused"], entry["kept"]) == (1, 2, 0)
    assert entry["synced_at"] and entry["state_by"]
    async with keyed(app, WRITER, "w") as api:
        answer = await api.post(f"{SOURCES}/resume", json={"source": BUCKET})
        assert answer.json()["before"] == "paused"
    assert (await read_source(harness.log, "w", BUCKET)).state == "active"
    kinds = [message.subject.rpartition(".")[2] for message in harness.log.messages]
    assert kinds == ["SourceSynced", "SourceSet", "SourceSet"]

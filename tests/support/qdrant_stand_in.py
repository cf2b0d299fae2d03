"""A stand-in for a Qdrant server: the server's own engine, which its makers also give away as a
library (Qdrant Edge), behind the part of the HTTP API that our adapter uses.

Segments, payload indexes, filters, orders, scores and the log of writes are the engine's. What is
not the server: HTTP, which reads each request by the models of the official client, and all that
several nodes, users or optimizers in the background would do.
"""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import qdrant_edge as edge
import uvicorn
from fastapi import FastAPI, HTTPException
from qdrant_client.http import models

FOLDER = Path(sys.argv[2]).resolve()
DETAILS = "collection.json"
"""What a collection was made with, and its indexes."""

app = FastAPI(openapi_url=None)
shards: dict[str, edge.EdgeShard] = {}
details: dict[str, dict[str, Any]] = {}


def load() -> None:
    """Open what an earlier process left."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for file in FOLDER.glob(f"*/{DETAILS}"):
        details[file.parent.name] = json.loads(file.read_text("utf-8"))
        shards[file.parent.name] = edge.EdgeShard.load(str(file.parent / "shard"))


def shard_of(name: str) -> edge.EdgeShard:
    """The shard of a collection. Answers 404 where there is none."""
    if name not in shards:
        raise HTTPException(404, f"Not found: Collection `{name}` doesn't exist!")
    return shards[name]


def ok(result: object) -> dict[str, Any]:
    """The answer with a result."""
    return {"result": result, "status": "ok", "time": 0.0}


def changed() -> dict[str, Any]:
    """The answer to a write that is applied."""
    return ok({"operation_id": 0, "status": "completed"})


@app.get("/collections")
async def names() -> Any:
    return ok({"collections": [{"name": name} for name in shards]})


@app.get("/collections/{name}")
async def describe(name: str) -> Any:
    shard_of(name)
    made = details[name]
    config = {
        "params": {"vectors": made["vectors"]},
        "hnsw_config": {"m": 0, "ef_construct": 100, "full_scan_threshold": 10_000},
        "optimizer_config": {
            "deleted_threshold": 0.2,
            "vacuum_min_vector_number": 1000,
            "default_segment_number": 0,
            "flush_interval_sec": 5,
        },
        "metadata": made["metadata"],
    }
    return ok(
        {
            "status": "green",
            "optimizer_status": "ok",
            "segments_count": 1,
            "config": config,
            "payload_schema": {
                field: {"data_type": kind, "points": 0} for field, kind in made["indexes"].items()
            },
        }
    )


@app.put("/collections/{name}")
async def create(name: str, body: models.CreateCollection) -> Any:
    if name in shards:
        raise HTTPException(409, f"Wrong input: Collection `{name}` already exists!")
    assert isinstance(body.vectors, models.VectorParams)
    assert body.vectors.distance == models.Distance.COSINE
    (FOLDER / name / "shard").mkdir(parents=True)
    vectors = edge.EdgeVectorParams(size=body.vectors.size, distance=edge.Distance.Cosine)
    config = edge.EdgeConfig(vectors=vectors, wal_enabled=True)
    shards[name] = edge.EdgeShard.create(str(FOLDER / name / "shard"), config)
    made = body.vectors.model_dump(mode="json", exclude_none=True)
    details[name] = {"vectors": made, "metadata": body.metadata, "indexes": {}}
    _keep(name)
    return ok(True)


@app.delete("/collections/{name}")
async def drop(name: str) -> Any:
    if shard := shards.pop(name, None):
        del details[name]
        shard.close()
        shutil.rmtree(FOLDER / name)
    return ok(shard is not None)


@app.put("/collections/{name}/index")
async def index(name: str, body: models.CreateFieldIndex) -> Any:
    schema = body.field_schema
    if isinstance(schema, models.KeywordIndexParams):
        made: Any = edge.KeywordIndexParams(
            is_tenant=schema.is_tenant, enable_hnsw=schema.enable_hnsw
        )
    else:
        assert isinstance(schema, models.IntegerIndexParams)
        made = edge.IntegerIndexParams(
            lookup=schema.lookup, range=schema.range, enable_hnsw=schema.enable_hnsw
        )
    shard_of(name).update(edge.UpdateOperation.create_field_index(body.field_name, made))
    details[name]["indexes"][body.field_name] = schema.type.value
    _keep(name)
    return changed()


@app.delete("/collections/{name}/index/{field}")
async def forget_index(name: str, field: str) -> Any:
    shard_of(name).update(edge.UpdateOperation.delete_field_index(field))
    del details[name]["indexes"][field]
    _keep(name)
    return changed()


@app.put("/collections/{name}/points")
async def upsert(name: str, body: models.PointsList) -> Any:
    points = [edge.Point(point.id, point.vector, point.payload) for point in body.points]
    shard_of(name).update(edge.UpdateOperation.upsert_points(points))
    return changed()


@app.post("/collections/{name}/points/delete")
async def delete(name: str, body: models.FilterSelector) -> Any:
    condition = filter_of(body.filter)
    shard_of(name).update(edge.UpdateOperation.delete_points_by_filter(condition))
    return changed()


@app.post("/collections/{name}/points")
async def retrieve(name: str, body: models.PointRequest) -> Any:
    records = shard_of(name).retrieve(body.ids, body.with_payload, False)
    return ok([_record(record) for record in records])


@app.post("/collections/{name}/points/count")
async def count(name: str, body: models.CountRequest) -> Any:
    request = edge.CountRequest(exact=body.exact is not False, filter=filter_of(body.filter))
    return ok({"count": shard_of(name).count(request)})


@app.post("/collections/{name}/points/scroll")
async def scroll(name: str, body: models.ScrollRequest) -> Any:
    order = body.order_by
    request = edge.ScrollRequest(
        limit=body.limit,
        filter=filter_of(body.filter),
        with_payload=body.with_payload or True,
        order_by=edge.OrderBy(order.key, start_from=order.start_from)
        if isinstance(order, models.OrderBy)
        else None,
    )
    records, _ = shard_of(name).scroll(request)
    return ok({"points": [_record(record) for record in records], "next_page_offset": None})


@app.post("/collections/{name}/points/query")
async def query(name: str, body: models.QueryRequest) -> Any:
    assert isinstance(body.query, models.NearestQuery)
    wanted = body.params or models.SearchParams()
    request = edge.QueryRequest(
        body.limit or 10,
        query=edge.Query.Nearest(body.query.nearest),
        filter=filter_of(body.filter),
        params=edge.SearchParams(hnsw_ef=wanted.hnsw_ef, exact=bool(wanted.exact)),
        with_payload=body.with_payload,
    )
    points = shard_of(name).query(request)
    return ok(
        {"points": [_record(point) | {"version": 0, "score": point.score} for point in points]}
    )


def filter_of(condition: models.Filter | None) -> edge.Filter | None:
    """A filter as the engine takes it: conditions that must all hold."""
    if condition is None:
        return None
    assert isinstance(condition.must, list)
    return edge.Filter(must=[_condition(part) for part in condition.must])


def _condition(part: object) -> edge.FieldCondition | edge.HasIdCondition:
    if isinstance(part, models.HasIdCondition):
        return edge.HasIdCondition(set(part.has_id))
    assert isinstance(part, models.FieldCondition)
    match = part.match
    bounds = part.range
    if isinstance(match, models.MatchValue):
        return edge.FieldCondition(part.key, match=edge.MatchValue(match.value))
    if isinstance(match, models.MatchAny):
        return edge.FieldCondition(part.key, match=edge.MatchAny(match.any))
    assert isinstance(bounds, models.Range)
    return edge.FieldCondition(part.key, range=edge.RangeFloat(lt=bounds.lt))


def _record(record: Any) -> dict[str, Any]:
    return {"id": str(record.id), "payload": record.payload}


def _keep(name: str) -> None:
    (FOLDER / name / DETAILS).write_text(json.dumps(details[name]), "utf-8")


if __name__ == "__main__":
    load()
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="error")

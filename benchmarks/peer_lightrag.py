"""LightRAG behind standard input, for `benchmarks.peer`. It runs in an environment of its own that has `lightrag-hku`.

    PEER_PYTHON benchmarks/peer_lightrag.py FOLDER URL MODEL EMBEDDING_MODEL DIMENSION KEY CLIENT

Each line on standard input is a step as JSON: `add` texts by name, `change` (delete, then add) texts by name, `delete`
names, `fill` with texts, files written once at the end, `count`, or `ask` questions. Each is answered with a line of
JSON: seconds, CPU seconds of this process and its children, bytes written, megabytes resident; entities and relations;
or how long the questions took. Storages and settings are LightRAG's defaults, but for four documents at once, as many
as it may make model calls. CLIENT is `own` for its own functions for OpenAI's routes, which open a client for each
call, or `shared` for one client of ours.
"""

import asyncio
import json
import os
import resource
import sys
import time
from pathlib import Path
from typing import Any

import numpy
from lightrag import LightRAG, QueryParam
from lightrag.llm.openai import openai_complete_if_cache, openai_embed
from lightrag.utils import EmbeddingFunc
from openai import AsyncOpenAI

AT_ONCE = 4


async def main() -> None:
    """Answer until standard input ends."""
    # The library may print: the answers go where standard output went, and what it prints goes to the log.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    rag = opened(*sys.argv[1:])
    await rag.initialize_storages()
    print("{}", file=answers, flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        step = json.loads(line)
        done = await {"count": counts, "ask": asked, "fill": filled}.get(step["do"], measured)(rag, step)
        print(json.dumps(done), file=answers, flush=True)
    await rag.finalize_storages()


def opened(folder: str, *flags: str) -> LightRAG:
    """With four model calls at once, and four documents."""
    url, model, embedding_model, dimension, key, client = flags
    complete, embed = {"own": own, "shared": shared}[client](url, model, embedding_model, key)
    return LightRAG(
        working_dir=folder,
        llm_model_func=complete,
        llm_model_max_async=AT_ONCE,
        max_parallel_insert=AT_ONCE,
        embedding_func=EmbeddingFunc(embedding_dim=int(dimension), func=embed),
    )


def own(url: str, model: str, embedding_model: str, key: str) -> Any:
    """Its own functions, which its server uses too."""

    async def complete(prompt: str, system_prompt: str | None = None, history_messages: Any = (), **more: Any) -> str:
        return await openai_complete_if_cache(
            model, prompt, system_prompt, list(history_messages or ()), base_url=url, api_key=key, **more
        )

    async def embed(texts: list[str]) -> Any:
        return await openai_embed.func(texts, model=embedding_model, base_url=url, api_key=key)

    return complete, embed


def shared(url: str, model: str, embedding_model: str, key: str) -> Any:
    """The same calls over one client that is kept open."""
    client = AsyncOpenAI(base_url=url, api_key=key)

    async def complete(prompt: str, system_prompt: str | None = None, history_messages: Any = (), **_: Any) -> str:
        system = [{"role": "system", "content": system_prompt}] if system_prompt else []
        messages: Any = [*system, *(history_messages or ()), {"role": "user", "content": prompt}]
        answer = await client.chat.completions.create(model=model, messages=messages)
        return answer.choices[0].message.content or ""

    async def embed(texts: list[str]) -> Any:
        answer = await client.embeddings.create(model=embedding_model, input=texts, encoding_format="float")
        return numpy.array([each.embedding for each in answer.data], dtype=numpy.float32)

    return complete, embed


async def measured(rag: LightRAG, step: dict[str, Any]) -> dict[str, float]:
    """Do a step and say what it took."""
    before, began = used(), time.monotonic()
    for name in step.get("names") or (step["texts"] if step["do"] == "change" else ()):
        gone = await rag.adelete_by_doc_id(name)
        if gone.status != "success":
            raise SystemExit(f"{name} was not deleted: {gone.message}")
    if texts := step.get("texts"):
        await rag.ainsert(list(texts.values()), ids=list(texts), file_paths=list(texts))
    seconds = time.monotonic() - began
    spent = {name: value - before[name] for name, value in used().items()}
    return {"seconds": seconds, "summarised": seconds, **spent, "resident": resident()}


async def filled(rag: LightRAG, step: dict[str, Any]) -> dict[str, float]:
    """Add texts. It would write all its files anew after each document; here it does so once, after the last."""

    async def later(*_: Any) -> None:
        return

    storages: list[Any] = [each for each in rag._index_storages() if each]
    for storage in storages:
        storage.index_done_callback = later
    done = await measured(rag, step)
    for storage in storages:
        del storage.index_done_callback
        await storage.index_done_callback()
    return done


def used() -> dict[str, float]:
    """CPU seconds and bytes written until now."""
    spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    io = dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())
    return {"cpu": sum(each.ru_utime + each.ru_stime for each in spent), "written": float(io["write_bytes"])}


def resident() -> float:
    """Megabytes of memory."""
    return int(Path("/proc/self/status").read_text().partition("VmRSS:")[2].split()[0]) / 1024


async def asked(rag: LightRAG, step: dict[str, Any]) -> dict[str, float]:
    """Ask the questions, `at_once` at a time, after some to warm up: p50 and p95 in milliseconds, and rate a second."""
    took: list[float] = []

    async def ask(question: dict[str, Any]) -> None:
        began = time.perf_counter()
        keywords = {name: question[name] for name in ("hl_keywords", "ll_keywords")}
        await rag.aquery_data(question["query"], QueryParam(mode=step["mode"], enable_rerank=False, **keywords))
        took.append((time.perf_counter() - began) * 1000)

    for question in step["questions"][:16]:
        await ask(question)
    took.clear()
    left = iter(step["questions"])

    async def one_after_the_other() -> None:
        for question in left:
            await ask(question)

    began = time.perf_counter()
    await asyncio.gather(*(one_after_the_other() for _ in range(step["at_once"])))
    rate = len(took) / (time.perf_counter() - began)
    took.sort()
    return {"p50": took[len(took) // 2], "p95": took[int(len(took) * 0.95)], "rate": rate}


async def counts(rag: LightRAG, _: dict[str, Any]) -> dict[str, Any]:
    """What was found."""
    graph = rag.chunk_entity_relation_graph
    status = await rag.doc_status.get_status_counts()
    return {"entities": len(await graph.get_all_nodes()), "relations": len(await graph.get_all_edges()), **status}


if __name__ == "__main__":
    asyncio.run(main())

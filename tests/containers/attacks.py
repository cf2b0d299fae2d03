"""Run in a container of the deployment: `attacks.py KIND`; prints what was tried and which of it
succeeded.

An attempt succeeds when it reads, writes or reaches what it should not. Beside them stand uses that
are allowed: where those fail, a refusal says nothing.
"""

import asyncio
import json
import socket
import ssl
import sys
from typing import Any

# As a script in a container it stands beside that file, in no package.
from attempts import (
    CREDENTIALS,
    FORGED,
    Attempt,
    added,
    asks,
    connects,
    documents,
    enters_bus,
    graph,
    hears,
    opens,
    says,
    vectors,
)


def stranger() -> dict[str, Attempt]:
    """What somebody tries who is on the network of the servers and knows nothing."""
    routes = {
        f"the API: {path}": asks(path, body)
        for path, body in (
            ("/documents/paginated", {}),
            ("/query", {"query": "who?"}),
            ("/documents/text", {"text": "x", "file_source": "x"}),
            ("/graph/label/list", None),
            ("/operations/settings", None),
            ("/operations/dead_letters", None),
            ("/operations/doctor", None),
            ("/metrics", None),
            ("/events/stream", None),
        )
    }
    users = ("", "operator:operator@", "query:@", "routes:routes@")
    return {
        "allowed: the health of the API": asks("/health/live"),
        "allowed: the health of a service": asks("/health/live", host="merger"),
        **routes,
        "the API with a guessed key": asks(
            "/query", {"query": "who?"}, **{"X-API-Key": "lightstream"}
        ),
        "the API for another workspace": asks(
            "/query", {"query": "who?"}, **{"LIGHTRAG-WORKSPACE": "harbour"}
        ),
        **{f"the bus as {user or 'nobody'}": enters_bus(user) for user in users},
        "the monitoring page of the bus": connects("nats", 8222),
        "documents without a password": documents,
        "the graph with its first password": graph,
        "vectors without a password": vectors,
    }


def unreachable() -> dict[str, Attempt]:
    """What is not on the network of the API and the models."""
    ports = {
        "nats": (4222, 8222),
        "mongo": (27017,),
        "neo4j": (7687, 7474),
        "milvus": (19530, 9091),
        "chunker": (9621,),
    }
    hosts = {
        f"{host}:{port}": connects(host, port)
        for host, numbers in ports.items()
        for port in numbers
    }
    return {"allowed: the API": connects("query", 9621), **hosts}


def reader() -> dict[str, Attempt]:
    """What a key that may read one workspace may not: change it, read others, operate the
    deployment.
    """
    key = {"X-API-Key": CREDENTIALS.read_text().strip()}
    other_workspace = {"LIGHTRAG-WORKSPACE": "harbour"}
    text = {"text": "forged", "file_source": "forged.txt"}
    page = {"page": 1, "page_size": 10}
    question = {"query": "Who leads the Harbour Office?"}
    return {
        "allowed: its documents": asks("/documents/paginated", page, **key),
        "allowed: a question": asks("/query", question, **key),
        "a document": asks("/documents/text", text, **key),
        "a document of another workspace": asks("/documents/text", text, **key, **other_workspace),
        "an entity": asks("/graph/entity/create", {"entity_name": "x", "entity_data": {}}, **key),
        "a question of another workspace": asks("/query", question, **key, **other_workspace),
        "documents of another workspace": asks(
            "/documents/paginated", page, **key, **other_workspace
        ),
        "events of another workspace": asks("/events/stream", **key, **other_workspace),
        "labels of another workspace": asks("/graph/label/list", **key, **other_workspace),
        "a rebuild": asks("/operations/rebuild/start", {"projection": "graph"}, **key),
        "an erasure": asks(
            "/operations/erasures", {"document_ids": [FORGED], "reason": "an attack"}, **key
        ),
        "dead letters of another workspace": asks(
            "/operations/dead_letters", **key, **other_workspace
        ),
        "settings": asks("/operations/settings", **key),
        "the doctor": asks("/operations/doctor", **key),
        "metrics": asks("/metrics", **key),
    }


def _forbidden() -> dict[str, Attempt]:
    """What no publisher may: speak as a service, read, change, purge, rewind."""
    event_types = (
        "ChunksCreated",
        "EntitiesExtracted",
        "GraphMerged",
        "VectorsIndexed",
        "StageFailed",
        "GraphEdited",
    )
    subjects = [
        *(f"kb.v1.default.{FORGED}.{name}" for name in event_types),
        "$KV.KB_GENERATIONS.pointers",
        "$KV.KB_LIMITS.x",
    ]
    body = b'{"last_by_subj":"kb.v1.default.*.DocumentAdded"}'
    calls = {
        "STREAM.MSG.GET.KB_EVENTS": body,
        "DIRECT.GET.KB_EVENTS": body,
        "STREAM.PURGE.KB_EVENTS": b"{}",
        "STREAM.DELETE.KB_EVENTS": b"{}",
        "STREAM.MSG.DELETE.KB_EVENTS": b'{"seq":1}',
        "STREAM.LIST": b"{}",
        "STREAM.UPDATE.KB_EVENTS": b'{"name":"KB_EVENTS","subjects":["kb.>"],"retention":"limits","max_msgs":1}',  # noqa: E501
        "STREAM.SNAPSHOT.KB_EVENTS": b'{"deliver_subject":"kb.probe"}',
        "CONSUMER.RESET.KB_EVENTS.chunker": b"{}",
        "CONSUMER.DELETE.KB_EVENTS.chunker": b"{}",
        "CONSUMER.PAUSE.KB_EVENTS.chunker": b'{"pause_until":"2099-01-01T00:00:00Z"}',
        "CONSUMER.CREATE.KB_EVENTS.spy": b'{"stream_name":"KB_EVENTS","config":{"name":"spy","ack_policy":"none","deliver_policy":"all"}}',  # noqa: E501
        "CONSUMER.MSG.NEXT.KB_EVENTS.chunker": b'{"batch":1,"no_wait":true}',
    }
    # Under both names that the log's calls have: its own account's, and the one they are imported
    # by.
    calls_by_subject = {
        f"{api}.{call}": body for call, body in calls.items() for api in ("$JS.API", "KB.API")
    }
    return {
        **{f"publishes {subject}": says(subject) for subject in subjects},
        **{f"calls {subject}": says(subject, body) for subject, body in calls_by_subject.items()},
        "calls $SYS.REQ.SERVER.PING": says("$SYS.REQ.SERVER.PING"),
    }


def publisher() -> dict[str, Attempt]:
    """What a publisher of all workspaces tries."""
    return {"allowed: a document": added("default", "allowed"), **_forbidden()}


def narrow() -> dict[str, Attempt]:
    """What a publisher of the workspace `harbour` tries."""
    names = ("DocumentAdded", "DocumentDeleted")
    elsewhere = {f"publishes {name} elsewhere": added("default", FORGED, name) for name in names}
    return {"allowed: a document": added("harbour", "allowed"), **elsewhere, **_forbidden()}


def listener() -> dict[str, Attempt]:
    """What a publisher may not hear of others. It says nothing itself: that it would hear."""
    subjects = (">", "kb.>", "_INBOX.>", "$JS.>", "$KV.>", "$SYS.>", "blob.>", "dead.>")
    bus = enters_bus(
        CREDENTIALS.read_text().strip().removeprefix("nats://").partition("nats:4222")[0]
    )
    return {
        "allowed: the bus": bus,
        **{f"hears {subject}": hears(subject) for subject in subjects},
    }


def encrypted() -> dict[str, Attempt]:
    """What somebody tries who has the operator's password, but not all that TLS asks for."""
    url = CREDENTIALS.read_text().strip()
    address = url.partition("?")[0]
    ca = "ca=/run/secrets/bus_ca.pem"
    pair = url.partition("&")[2]

    def in_plain_text() -> bool:
        with socket.create_connection(("nats", 4222), 5) as bus:
            bus.settimeout(20)
            bus.sendall(b'CONNECT {"verbose":true}\r\nPING\r\n')
            return b"INFO" in bus.recv(4096)

    return {
        "allowed: the bus with all files": opens(url),
        "the bus without a certificate": opens(f"{address}?{ca}"),
        "the bus without knowing its authority": opens(f"{address}?{pair}"),
        "the bus without TLS": opens(address.replace("tls://", "nats://")),
        "the bus in plain text": lambda: asyncio.to_thread(in_plain_text),
    }


def route() -> dict[str, Attempt]:
    """What somebody tries who has the password of routes without a certificate, or a certificate
    without it.
    """
    routes_password = CREDENTIALS.read_text().strip()

    def becomes(password: str, *certificate: str, tls: bool = True) -> Attempt:
        options = {
            "user": "routes",
            "pass": password,
            "server_id": "X",
            "name": "x",
            "cluster": "lightstream",
        }

        def tried() -> bool:
            connection = socket.create_connection(("nats", 6222), 5)
            connection.settimeout(20)
            context = ssl.create_default_context(cafile="/run/secrets/bus_ca.pem")
            if certificate:
                context.load_cert_chain(*certificate)
            with (
                context.wrap_socket(connection, server_hostname="nats")
                if tls
                else connection as channel
            ):
                channel.sendall(f"CONNECT {json.dumps(options)}\r\nPING\r\n".encode())
                answer = b""
                while part := channel.recv(65536):
                    answer += part
                    if b"PONG" in answer:
                        return True
            raise ConnectionError(answer.decode())

        return lambda: asyncio.to_thread(tried)

    ours = ("/run/secrets/bus_client.pem", "/run/secrets/bus_client.key")
    return {
        "allowed: the password with a certificate of ours": becomes(routes_password, *ours),
        "a certificate of ours with a guessed password": becomes("routes", *ours),
        "the password without a certificate": becomes(routes_password),
        "the password without TLS": becomes(routes_password, tls=False),
    }


KINDS = {
    "stranger": stranger,
    "unreachable": unreachable,
    "reader": reader,
    "publisher": publisher,
    "narrow": narrow,
    "listener": listener,
    "encrypted": encrypted,
    "route": route,
}


async def tried(name: str, attempt: Attempt) -> dict[str, Any]:
    """One attempt: whether it succeeded, else what was said."""
    try:
        async with asyncio.timeout(40):
            return {"attempt": name, "succeeded": await attempt(), "said": ""}
    except Exception as error:  # whatever it is, it did not get in
        return {
            "attempt": name,
            "succeeded": False,
            "said": f"{type(error).__name__}: {error}"[:200],
        }


async def main(kind: str) -> None:
    """Try everything of one kind, side by side."""
    result = await asyncio.gather(
        *(tried(name, attempt) for name, attempt in KINDS[kind]().items())
    )
    sys.stdout.write(f"\n{json.dumps(result)}\n")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))

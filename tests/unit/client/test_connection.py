"""Where the client connects, with which credentials, and that it never tells them."""

import inspect
import subprocess
import sys
from typing import Any

import httpx
import pytest

from lightstream_rag.client import AsyncLightstream, Lightstream
from lightstream_rag.connection import Connection
from lightstream_rag.errors import LightstreamError, Misconfigured
from lightstream_rag.models import Answer, Document
from runtime.errors import ConfigurationError, InvalidInput, ServiceError

SECRET = "k-canary-0123456789abcdef"


def asked(client: Lightstream | AsyncLightstream) -> httpx.Request:
    return client._http.build_request("GET", "/health")  # pyright: ignore[reportPrivateUsage]


def test_without_arguments_the_environment_speaks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIGHTSTREAM_API_URL", "http://query:9621")
    monkeypatch.setenv("LIGHTRAG_API_KEY", "of-lightrag")
    monkeypatch.setenv("LIGHTSTREAM_API_TOKEN", "a-token")
    monkeypatch.setenv("LIGHTSTREAM_WORKSPACE", "harbour")
    with Lightstream() as client:
        request = asked(client)
    assert str(request.url) == "http://query:9621/health"
    assert request.headers["X-API-Key"] == "of-lightrag"
    assert request.headers["Authorization"] == "Bearer a-token"
    assert request.headers["LIGHTRAG-WORKSPACE"] == "harbour"
    monkeypatch.setenv("LIGHTSTREAM_API_KEY", "our-own")
    with Lightstream() as client:
        assert asked(client).headers["X-API-Key"] == "our-own"


@pytest.mark.parametrize("url", ["https://query:9621", "HTTPS://query:9621", "http://query:9621"])
def test_every_certificate_is_verified(url: str) -> None:
    is_plain = url.startswith("http:")
    assert Connection.of(url).httpx_arguments()["verify"] is not is_plain


def test_what_is_given_counts_more_also_when_it_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIGHTSTREAM_API_KEY", "of-the-environment")
    monkeypatch.setenv("LIGHTSTREAM_WORKSPACE", "harbour")
    with Lightstream("http://query:1/prefix", api_key="", workspace="") as client:
        request = asked(client)
    assert not {"x-api-key", "authorization", "lightrag-workspace"} & request.headers.keys()
    assert str(request.url) == "http://query:1/prefix/health"


def test_alone_it_means_this_machine_and_no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://proxy:3128")
    with Lightstream() as client:
        assert str(asked(client).url) == "http://127.0.0.1:9621/health"
        assert client._http.trust_env is False  # pyright: ignore[reportPrivateUsage]


@pytest.mark.parametrize(
    ("url", "options"),
    [
        ("query:9621", {}),
        ("ftp://query", {}),
        ("http://", {}),
        (f"http://ada:{SECRET}@query", {}),
        (f"http://query:{SECRET}", {}),
        ("http://query", {"api_key": f"{SECRET}\nX-Other: 1"}),
        ("http://query", {"token": f"{SECRET} é"}),
        ("http://query", {"workspace": "a b"}),
        ("http://query", {"workspace": "x-a"}),
    ],
)
@pytest.mark.parametrize("kind", [Lightstream, AsyncLightstream])
def test_what_cannot_be_used_is_refused_without_being_told(
    kind: Any, url: str, options: dict[str, str]
) -> None:
    with pytest.raises(Misconfigured) as error:
        kind(url, **options)
    assert SECRET not in repr(error.value)


def test_no_secret_is_in_what_is_shown() -> None:
    connection = Connection.of("http://query", api_key=SECRET, token=SECRET)
    with Lightstream("http://query", api_key=SECRET, token=SECRET) as client:
        text = f"{connection!r} {client!r} {vars(client)} {client!s}"
    assert SECRET not in text
    assert connection.httpx_arguments()["headers"]["X-API-Key"] == SECRET


def test_its_errors_are_those_of_the_project_too() -> None:
    assert issubclass(LightstreamError, ServiceError)
    assert issubclass(Misconfigured, ConfigurationError)
    here = "lightstream_rag.errors"
    result = [
        kind for kind in vars(sys.modules[here]).values() if getattr(kind, "__module__", "") == here
    ]
    result = [kind for kind in result if inspect.isclass(kind)]
    assert len(result) >= 12
    assert all(issubclass(kind, LightstreamError) for kind in result)
    assert not issubclass(Misconfigured, InvalidInput)


def test_both_clients_have_the_same_methods_with_the_same_words() -> None:
    sync_methods, async_methods = (
        {name: getattr(kind, name) for name in dir(kind) if name[0] != "_"}
        for kind in (Lightstream, AsyncLightstream)
    )
    assert sync_methods.keys() == async_methods.keys()
    assert len(sync_methods) > 25
    internal_methods = {"run", "pieces", "close"}
    for name in sync_methods.keys() - internal_methods:
        assert inspect.signature(sync_methods[name]) == inspect.signature(async_methods[name])
        assert sync_methods[name].__doc__ == async_methods[name].__doc__
        assert sync_methods[name].__doc__
    assert inspect.signature(Lightstream.query).return_annotation is Answer
    with Lightstream("http://query") as client:
        assert list(inspect.signature(client.wait).parameters) == ["added", "progress", "timeout"]


def test_what_a_newer_server_says_more_is_kept() -> None:
    fields = {
        "id": "d",
        "file_path": "d.txt",
        "status": "processed",
        "colour": "red",
        "metadata": {"added_sequence": 7},
    }
    document = Document.model_validate(fields)
    assert document.model_dump(exclude_unset=True) == fields
    assert (document.sequence, document.is_final) == (7, True)


def test_it_is_imported_without_servers_stores_and_the_bus() -> None:
    script = (
        "import sys; import lightstream_rag.client\n"
        "heavy = {'fastapi', 'starlette', 'uvicorn', 'pymilvus', 'neo4j', 'motor', 'nats', "
        "'faststream', 'openai',\n"
        "         'opentelemetry', 'structlog', 'onnxruntime', 'services', "
        "'operations', 'embedded', 'cli'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=True, text=True
    )
    assert result.stdout.strip() == "[]"

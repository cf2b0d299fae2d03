"""Files over HTTP: read in the sandbox, refused with the reason, and never a path."""

import json
from collections.abc import AsyncIterator
from io import FileIO
from pathlib import Path
from typing import Any

import httpx
import pytest

from contracts.events import DocumentAdded
from contracts.ids import md5
from runtime.bus.codec import decode
from services.gateway.settings import GatewaySettings
from tests.support import office_files as office
from tests.support.encoded_texts import SAMPLES
from tests.support.pdf_files import pdf
from tests.support.querying import QueryHarness, projected
from tests.unit.gateway.test_api import client

PATH = "/documents/upload"
BOUNDARY = "=-=edge=-="


async def send(
    api: httpx.AsyncClient, name: str, data: bytes, query: str = "", key: str = ""
) -> httpx.Response:
    headers = {"Idempotency-Key": key} if key else {}
    return await api.post(PATH + query, files={"file": (name, data)}, headers=headers)


def form(body: bytes, boundary: str = BOUNDARY) -> dict[str, Any]:
    return {
        "content": body,
        "headers": {"content-type": f"multipart/form-data; boundary={boundary}"},
    }


def part(headers: bytes, content: bytes) -> bytes:
    return b"--" + BOUNDARY.encode() + b"\r\n" + headers + b"\r\n\r\n" + content + b"\r\n"


END = b"--" + BOUNDARY.encode() + b"--\r\n"
FILE = b'Content-Disposition: form-data; name="file"; filename="a.txt"'


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def added(harness: QueryHarness) -> list[DocumentAdded]:
    result = [decode(message.data, message.subject).data for message in harness.log.messages]
    return [event for event in result if isinstance(event, DocumentAdded)]


async def test_a_file_is_in_the_log_with_its_text_and_what_is_known_of_it(
    api: httpx.AsyncClient, harness: QueryHarness
) -> None:
    answer = await send(api, "report.[native].pdf", pdf("first page", "second page"))
    body = answer.json()
    assert (answer.status_code, body["status"], body["track_id"][:7]) == (200, "success", "upload_")
    (event,) = added(harness)
    assert (event.document_id, event.file_path) == ("doc-" + md5("report.pdf"), "report.pdf")
    assert event.track_id == body["track_id"]
    assert event.text and "first page" in event.text and len(event.pages) == 2
    assert (event.metadata["file_name"], event.metadata["media_type"]) == (
        "report.pdf",
        "application/pdf",
    )
    await projected(harness)
    assert (await api.get(f"/documents/track_status/{body['track_id']}")).json()["total_count"] == 1


async def test_the_same_file_again_adds_nothing_and_gives_the_track_it_has(
    api: httpx.AsyncClient, harness: QueryHarness
) -> None:
    first, second = [await send(api, "a.txt", b"text") for _ in range(2)]
    assert (second.status_code, second.json()["track_id"]) == (200, first.json()["track_id"])
    assert len(added(harness)) == 1


async def test_another_file_of_the_same_name_is_refused_unless_it_is_to_be_a_new_version(
    api: httpx.AsyncClient, harness: QueryHarness
) -> None:
    await send(api, "a.txt", b"text")
    refusal = await send(api, "elsewhere/a.txt", b"other")
    assert (refusal.status_code, "replace=true" in refusal.json()["detail"]) == (409, True)
    assert (await send(api, "a.txt", b"other", "?replace=true")).status_code == 200
    assert [(event.document_id, event.text) for event in added(harness)] == [
        ("doc-" + md5("a.txt"), "text"),
        ("doc-" + md5("a.txt"), "other"),
    ]
    await api.request(
        "DELETE", "/documents/delete_document", json={"doc_ids": ["doc-" + md5("a.txt")]}
    )
    assert (await send(api, "a.txt", b"third")).status_code == 200


async def test_files_of_one_base_name_in_two_folders_are_two_documents_where_folders_are_kept(
    api: httpx.AsyncClient, harness: QueryHarness
) -> None:
    for name in ("a/report.[native].txt", "b/report.txt", "report.txt"):
        assert (await send(api, name, name.encode(), "?folders=true")).status_code == 200
    assert [(event.document_id, event.file_path) for event in added(harness)] == [
        ("doc-" + md5(name), name) for name in ("a/report.txt", "b/report.txt", "report.txt")
    ]
    assert (await send(api, "a/report.txt", b"other", "?folders=true")).status_code == 409
    assert (await send(api, "a/../report.txt", b"other", "?folders=true")).status_code == 400


async def test_an_upload_with_a_key_is_one_upload(
    api: httpx.AsyncClient, harness: QueryHarness
) -> None:
    first, second = [await send(api, "a.txt", b"text", key="k") for _ in range(2)]
    assert (first.status_code, first.json()["track_id"]) == (200, second.json()["track_id"])
    assert (await send(api, "b.txt", b"text", key="k")).status_code == 422
    assert len(added(harness)) == 1


@pytest.mark.parametrize(
    "name",
    [
        "../../x.txt",
        "/etc/passwd",
        "C:\\x.txt",
        "..",
        "a/../../b.txt",
        "x" * 4000 + ".txt",
        "b\\a.txt",
    ],
)
async def test_a_name_that_is_no_name_is_refused(
    api: httpx.AsyncClient, harness: QueryHarness, name: str
) -> None:
    answer = await send(api, name, b"text")
    assert (answer.status_code, added(harness)) == (400, [])
    assert len(answer.text) < 1500


@pytest.mark.parametrize(
    "name",
    ["..%2fx.txt", "con", "a b.txt", "'; rm -rf.txt", "文.txt", "=cmd.txt", ".txt", 'q".txt'],
)
async def test_an_odd_name_is_a_name_and_never_a_path(
    api: httpx.AsyncClient,
    harness: QueryHarness,
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = await send(api, name, b"text")
    assert answer.status_code == 200, answer.text
    assert names_in(tmp_path) == []
    assert "/" not in added(harness)[0].file_path


@pytest.mark.parametrize(
    "header",
    [
        b'Content-Disposition: form-data; name="file"; filename="\xff\xfe.txt"',
        b"Content-Disposition: form-data; name=\"file\"; filename*=utf-8''%ff%fe.txt",
        b'Content-Disposition: form-data; name="file"; filename="a\0.txt"',
        b'Content-Disposition: form-data; name="file"; filename="a\tb\x7f.txt"',
        b'Content-Disposition: form-data; name="file"; filename=""',
    ],
)
async def test_bytes_that_are_no_name_are_refused(api: httpx.AsyncClient, header: bytes) -> None:
    answer = await api.post(PATH, **form(part(header, b"text") + END))
    assert answer.status_code in {400, 422} or b'filename=""' in header
    json.loads(answer.content.decode())


async def test_a_kind_that_is_not_read_is_refused_with_the_way_out(api: httpx.AsyncClient) -> None:
    types = (await api.get("/documents/supported_file_types")).json()
    answer = await send(api, "run.exe", b"MZ")
    assert (answer.status_code, "source code" in answer.json()["detail"]) == (400, True)
    assert {".txt", ".pdf", ".docx"} <= set(types["supported_extensions"])
    assert types["engines"]["epub"] == [".epub"]


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.txt", b"\0\1\2" * 50, "binary"),
        ("a.unheard", b"\0\1\2" * 50, "binary"),
        ("a.py", b"\x7fELF\0\1\2" * 50, "a program"),
        ("a.txt", b"  ", "empty"),
        ("a.pdf", b"%PDF-1.7 nonsense", "a.pdf"),
        ("a.docx", office.archive(**{"word/document.xml": bytes(64 * 2**20)}), "zip bomb"),
        ("a.docx", b"PK\3\4 nonsense", "a.docx"),
    ],
)
async def test_a_file_that_cannot_be_read_is_refused_with_the_reason(
    api: httpx.AsyncClient, harness: QueryHarness, name: str, data: bytes, reason: str
) -> None:
    answer = await send(api, name, data)
    assert (answer.status_code, added(harness)) == (422, [])
    assert reason in answer.json()["detail"]


async def test_a_file_over_the_limit_is_refused_with_the_limit(harness: QueryHarness) -> None:
    app = harness.app(settings=GatewaySettings(workspace="w", max_upload_size=1000))
    async with client(app) as api:
        assert (await send(api, "a.txt", b"x" * 1000)).status_code == 200
        for data in (b"x" * 1001, b"x" * 500_000):
            answer = await send(api, "b.txt", data)
            assert (
                answer.status_code,
                "1,000 bytes (MAX_UPLOAD_SIZE)" in answer.json()["detail"],
            ) == (413, True)


async def test_no_more_is_read_of_a_body_without_a_size_than_the_limit(
    harness: QueryHarness,
) -> None:
    pieces = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal pieces
        yield b"--" + BOUNDARY.encode() + b"\r\n" + FILE + b"\r\n\r\n"
        for _ in range(10_000):
            pieces += 1
            yield b"x" * 1000

    async with client(
        harness.app(settings=GatewaySettings(workspace="w", max_upload_size=100_000))
    ) as api:
        answer = await api.post(PATH, **{**form(b""), "content": endless()})
    assert (answer.status_code, pieces < 120) == (413, True)


async def test_an_upload_for_which_there_is_no_room_is_to_be_tried_again(
    api: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.TemporaryFile", lambda buffering: FileIO("/dev/full", "w+"))
    answer = await send(api, "a.txt", b"text")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "10")


async def bytewise(body: bytes) -> AsyncIterator[bytes]:
    for place in range(len(body)):
        yield body[place : place + 1]


@pytest.mark.parametrize(
    "content", [b"text", b"\r\n--=-=edge=-\r\n--\r\n", b"\r\n", b"a\r\n--", b"line\r\nline\r\n"]
)
async def test_a_file_comes_in_whole_however_its_bytes_are_cut(
    api: httpx.AsyncClient, harness: QueryHarness, content: bytes
) -> None:
    note = part(b'Content-Disposition: form-data; name="note"', b"") + part(b"x: y", b"z")
    body = b"\r\n" + note + part(FILE, b"<" + content + b">") + note + END + b"epilogue"
    for number, payload in enumerate((body, bytewise(body))):
        answer = await api.post(
            PATH, **{**form(b""), "content": payload}, params={"replace": number}
        )
        assert answer.status_code == 200, answer.text
    (event,) = added(harness)
    assert event.text and event.text.replace("\r\n", "\n") == f"<{content.decode()}>".replace(
        "\r\n", "\n"
    )


async def test_an_empty_file_is_empty_and_not_a_riddle(api: httpx.AsyncClient) -> None:
    answer = await api.post(PATH, **form(part(FILE, b"") + END))
    assert (answer.status_code, "empty" in answer.json()["detail"]) == (422, True)


@pytest.mark.parametrize(
    "request_",
    [
        form(b""),
        form(END),
        form(part(FILE, b"text")),
        form(part(FILE, b"text")[:40]),
        form(part(b'Content-Disposition: form-data; name="file"', b"text") + END),
        form(
            part(b'Content-Disposition: form-data; name="other"; filename="a.txt"', b"text") + END
        ),
        form(part(b"x: y", b"") * 1000 + END),
        form(part(b"x: y", b"x" * 200_000) + END),
        form(part(b"x: " + b"y" * 50_000, b"") + END),
        form(b"preamble" * 50_000),
        {"content": b"text", "headers": {"content-type": "text/plain"}},
        {"content": b"text", "headers": {"content-type": "multipart/form-data"}},
        {"json": {"file": "text"}},
        {},
    ],
    ids=[
        "nothing",
        "no part",
        "no end",
        "half a header",
        "no file name",
        "another name",
        "many parts",
        "a long field",
        "long headers",
        "only a preamble",
        "plain text",
        "no boundary",
        "json",
        "no body",
    ],
)
async def test_a_form_without_a_file_is_refused(api: httpx.AsyncClient, request_: Any) -> None:
    answer = await api.post(PATH, **request_)
    assert (answer.status_code, bool(answer.json()["detail"])) == (400, True)


async def test_a_guessed_encoding_comes_with_its_confidence_and_in_doubt_with_a_warning(
    api: httpx.AsyncClient, harness: QueryHarness
) -> None:
    sure = (await send(api, "fr.txt", SAMPLES[0].paragraph.encode("latin-1"))).json()
    short_answer = (await send(api, "short.txt", "Name: Müller".encode("latin-1"))).json()
    assert sure["warnings"] == []
    assert "Warning" not in sure["message"]
    assert "windows-1252" in short_answer["warnings"][0]
    assert short_answer["warnings"][0] in short_answer["message"]
    first, second = added(harness)
    assert (first.text, first.metadata["encoding"]) == (SAMPLES[0].paragraph, "windows-1252")
    assert float(str(first.metadata["encoding_confidence"])) > 0.9
    assert "encoding_warning" not in first.metadata
    assert second.metadata["encoding_warning"] == short_answer["warnings"][0]
    await projected(harness)
    state = (
        await api.get("/documents/by_id", params={"doc_id": short_answer["documents"][0]["id"]})
    ).json()
    assert state["metadata"]["encoding_warning"] == short_answer["warnings"][0]


@pytest.mark.parametrize("before", [True, False], ids=["before the file", "behind it"])
async def test_the_field_encoding_of_an_upload_decides(
    api: httpx.AsyncClient, harness: QueryHarness, before: bool
) -> None:
    field = b'Content-Disposition: form-data; name="encoding"'
    parts = [part(field, b" iso-8859-2 "), part(FILE, "Łódź".encode("iso-8859-2"))]
    answer = await api.post(PATH, **form(b"".join(parts if before else parts[::-1]) + END))
    assert (answer.status_code, answer.json()["warnings"]) == (200, [])
    (event,) = added(harness)
    assert (event.text, event.metadata["encoding"]) == ("Łódź", "iso-8859-2")


async def test_the_charset_of_the_file_is_believed_where_it_fits(
    api: httpx.AsyncClient, harness: QueryHarness
) -> None:
    typed_file = FILE + b"\r\nContent-Type: text/plain; charset=koi8-r"
    for data in ("Да".encode("koi8-r"), "Ещё раз".encode()):
        await api.post(PATH + "?replace=true", **form(part(typed_file, data) + END))
    assert [(event.text, event.metadata["encoding"]) for event in added(harness)] == [
        ("Да", "koi8-r"),
        ("Ещё раз", "utf-8"),
    ]


@pytest.mark.parametrize(
    "encoding", ["klingon", "base64", "rot13", "unicode_escape", "\x1b[31m", "x" * 5000]
)
async def test_an_unknown_encoding_is_refused(
    api: httpx.AsyncClient, harness: QueryHarness, encoding: str
) -> None:
    answer = await api.post(PATH, files={"file": ("a.txt", b"text")}, data={"encoding": encoding})
    detail = answer.json()["detail"]
    assert (answer.status_code, "no encoding that is known" in detail, detail.isprintable()) == (
        400,
        True,
        True,
    )
    assert added(harness) == []


async def test_an_encoding_that_does_not_fit_is_refused(api: httpx.AsyncClient) -> None:
    answer = await api.post(PATH, files={"file": ("a.txt", b"caf\xe9")}, data={"encoding": "utf-8"})
    assert (answer.status_code, "not utf-8, as byte 4 shows" in answer.json()["detail"]) == (
        422,
        True,
    )

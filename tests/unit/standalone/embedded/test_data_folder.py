"""The data folder: what it records, and that one stack has it."""

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from runtime.errors import ConfigurationError
from standalone.embedded.data_folder import STATE, Busy, Child, Folder, NoStack, State, new_password
from standalone.embedded.orphans import Identity


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    folder = Folder.at(tmp_path)
    state = State(
        ports={"api": 1234},
        password=new_password(),
        bus_password=new_password(),
        phase="ready",
        supervisor=Identity(7, 8),
        children={"merger": Child(Identity(1, 2), True, 3)},
        models={"language": "", "embedding": "minilm"},
    )
    folder.write(state)
    assert folder.read() == state
    assert folder.read().api == "http://127.0.0.1:1234"


def test_the_record_is_for_its_owner_only_also_when_it_was_not_before(tmp_path: Path) -> None:
    folder = Folder.at(tmp_path)
    (tmp_path / f"{STATE}.new").touch(mode=0o644)
    folder.write(State(password="secret", bus_password="secret"))
    assert stat.S_IMODE((tmp_path / STATE).stat().st_mode) == 0o600
    assert "secret" not in repr(folder.read())


def test_a_folder_of_older_code_is_closed_to_others_and_what_is_not_ours_is_left(tmp_path: Path) -> None:
    data = tmp_path / "data"
    (data / "bus" / "jetstream").mkdir(parents=True)
    (data / "notes").mkdir()
    ours = [data / "bus" / "jetstream" / "1.blk", data / "supervisor.log"]
    for file in (*ours, data / "notes" / "mine.txt"):
        file.touch()
        file.chmod(0o644)
    for path in (data, data / "bus", data / "bus" / "jetstream", data / "notes"):
        path.chmod(0o755)

    with Folder.at(data).locked():
        pass

    def mode(path: Path) -> int:
        return stat.S_IMODE(path.stat().st_mode)

    assert [mode(path) for path in (data, data / "bus", data / "bus" / "jetstream", *ours)] == [0o700] * 3 + [0o600] * 2
    assert (mode(data / "notes"), mode(data / "notes" / "mine.txt")) == (0o755, 0o644)
    assert mode(data / "stack.lock") == 0o600


def test_a_folder_that_is_not_there_is_an_empty_state(tmp_path: Path) -> None:
    folder = Folder.at(tmp_path / "none")
    assert folder.read() == State()
    assert not folder.running()
    with pytest.raises(NoStack, match="lightstream up --detach --data"):
        folder.ready()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"children": {"x": {}}}', '{"children": {}, "colour": "red"}'])
def test_a_damaged_record_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / STATE).write_text(text)
    with pytest.raises(ConfigurationError, match=r"stack\.json is damaged"):
        Folder.at(tmp_path).read()


def test_only_one_stack_has_the_folder(tmp_path: Path) -> None:
    first, second = Folder.at(tmp_path / "data"), Folder.at(tmp_path / "data")
    with first.locked():
        assert second.running()
        with pytest.raises(Busy, match="lightstream down --data"), second.locked():
            pytest.fail("two stacks in one folder")
    assert not second.running()
    with second.locked():
        assert first.running()


def test_the_lock_ends_with_the_process_that_had_it(tmp_path: Path) -> None:
    script = (
        "import sys, time; from pathlib import Path; from standalone.embedded.data_folder import Folder\n"
        "with Folder(Path(sys.argv[1])).locked():\n    print('locked', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"locked\n"
        assert Folder.at(tmp_path).running()
        child.kill()
        child.wait(10)
    assert not Folder.at(tmp_path).running()


@pytest.mark.parametrize("phase", ["starting", "stopping"])
def test_a_stack_that_is_not_ready_says_so(tmp_path: Path, phase: str) -> None:
    folder = Folder.at(tmp_path)
    folder.write(State(phase=phase))  # type: ignore[arg-type]
    with folder.locked(), pytest.raises(NoStack, match=phase):
        folder.ready()


def test_passwords_differ_and_are_long() -> None:
    assert new_password() != new_password()
    assert len(new_password()) >= 24

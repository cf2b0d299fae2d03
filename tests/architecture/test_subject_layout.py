"""The layout of the log's subjects has one home, so that another one is a change of one module."""

from tests.architecture.sources import FLOORS, modules, shown

HOME = ("contracts/subjects.py", "contracts/partitions.py")
SHOWS_ONE = {
    "contracts/asyncapi.py": "describes it",
    "runtime/telemetry.py": "the template that a label has",
    "services/gateway/reference/operation_examples.py": "an example of an answer",
}


def test_only_their_home_builds_subjects_of_the_log() -> None:
    building_modules = {
        shown(path)
        for path in modules(*FLOORS)
        if any(
            text in path.read_text("utf-8")
            for text in ("subjects.PREFIX", "subjects import PREFIX", '"kb.v1')
        )
    }
    assert building_modules == {*HOME, *SHOWS_ONE}

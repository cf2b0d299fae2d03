"""How fast a rebuild goes, as its reports say: each phase has a rate of its own."""

import sys

import pytest

from cli.rebuild_output import Progress, bar, describe_step
from operations.pace import Pace


def test_each_phase_has_its_rate_and_time_left() -> None:
    seconds = iter([10.0, 12.0, 20.0, 21.0])
    pace = Pace(lambda: next(seconds))
    first = pace.of({"events": 100, "position": 100, "end": 1100})
    assert (first["phase"], first["done"], first["total"], "rate" in first) == (
        "events",
        100,
        1100,
        False,
    )
    second = pace.of({"events": 300, "position": 300, "end": 1100})
    assert (second["rate"], second["seconds_left"]) == (100.0, 8.0)
    assert "rate" not in pace.of({"vectors": 10, "of": 40})
    third = pace.of({"vectors": 20, "of": 40})
    assert (third["phase"], third["rate"], third["seconds_left"]) == ("vectors", 10.0, 2.0)
    assert describe_step(third) == "vectors 20 of 40, 10/s, 2 s left"
    assert bar(third) == f"[{'#' * 15}{'.' * 15}]"


def test_what_has_no_known_end_has_no_time_left() -> None:
    pace = Pace(iter([1.0, 2.0, 2.5]).__next__)
    pace.of({"entities and relations": 5})
    step = pace.of({"entities and relations": 25})
    assert describe_step(step) == "entities and relations 25, 20/s"
    assert bar(step) == ""
    at_end = pace.of({"entities and relations": 25, "of": 25})
    assert (at_end["done"], at_end["total"]) == (25, 25)
    assert describe_step({"events": 3}) == "events 3"
    assert describe_step({}) == "just begun"


def test_a_phase_without_known_end_stays_on_one_line_of_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    show = Progress()
    for step in ({"rows compared": 5}, {"rows compared": 9}, {"rows compared": 9, "of": 9}):
        show(step)
    assert capsys.readouterr().err.count("\n") == 1

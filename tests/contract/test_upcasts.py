"""Old words are made new at the door, one version at a time; inner code knows only the newest."""

import json
from collections.abc import Callable, Mapping
from typing import ClassVar

import pytest

from contracts.events import Event
from contracts.upcast import Body
from runtime.bus.codec import decode
from runtime.errors import NewerVersion, Poison, Retryable, Undecodable


class TideMeasured(Event):
    """An event of this test, in its third version."""

    version: ClassVar[int] = 3
    station: str
    centimetres: int
    quality: str

    @property
    def aggregate_id(self) -> str:
        return self.station


def _to_metres(body: Body) -> Body:
    return {"station": body["station"], "metres": body["feet"] * 0.3048}


def _to_centimetres(body: Body) -> Body:
    return {
        "station": body["station"],
        "centimetres": round(body["metres"] * 100),
        "quality": "unknown",
    }


LIFTS = {("TideMeasured", 1): _to_metres, ("TideMeasured", 2): _to_centimetres}


def tide(
    version: int, steps: Mapping[tuple[str, int], Callable[[Body], Body]] = LIFTS, **body: object
) -> Event:
    message = {
        "specversion": "1.0",
        "id": "1",
        "source": "/gauge",
        "type": f"lightstream.TideMeasured.v{version}",
        "workspace": "harbour",
        "data": {"station": "pier-4", **body},
    }
    subject = "kb.v1.harbour.pier-4.TideMeasured"
    return decode(
        json.dumps(message).encode(), subject, events={"TideMeasured": TideMeasured}, steps=steps
    ).data


def test_every_older_version_is_lifted_step_by_step() -> None:
    tide_now = TideMeasured(station="pier-4", centimetres=305, quality="unknown")
    assert tide(1, feet=10) == tide_now
    assert tide(2, metres=3.05) == tide_now
    assert tide(3, centimetres=305, quality="unknown") == tide_now


def test_a_newer_version_waits_for_the_deployment_that_knows_it() -> None:
    with pytest.raises(NewerVersion) as caught:
        tide(4, centimetres=305, quality="unknown")
    assert isinstance(caught.value, Retryable)


def test_a_missing_step_makes_an_event_undecodable() -> None:
    with pytest.raises(Undecodable, match="no step lifts it to v3"):
        tide(1, {("TideMeasured", 1): _to_metres}, feet=10)


def test_a_body_that_its_version_does_not_allow_is_poison() -> None:
    with pytest.raises(Poison, match="centimetres"):
        tide(3, centimetres="much", quality="good")


@pytest.mark.parametrize("body", [{"metres": 3}, {"feet": {}}, {"feet": None}])
def test_a_body_that_no_step_can_lift_is_poison(body: dict[str, object]) -> None:
    with pytest.raises(Poison, match=r"TideMeasured v1: (?!no step)"):
        tide(1, **body)

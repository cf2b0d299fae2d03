"""The HTTP API does what its own description says, whatever is sent: schemathesis over every route
of the document.
"""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, settings
from hypothesis.errors import FlakyStrategyDefinition
from schemathesis.config import SchemathesisConfig

from services.gateway.app import create_app
from services.gateway.settings import GatewaySettings
from tests.support.access import KEY, behind
from tests.support.pipeline import FollowedLog, serving
from tests.support.querying import BAKER, CURIE, QueryHarness
from tests.support.stack import until

DOCUMENT = create_app().openapi()
HEADERS = {"X-API-Key": KEY}
EXPECTED = ["2xx", "3xx", "4xx", "501", "503"]
"""501 says that a deployment does not do something; `calm` looks at every 503."""

ENDLESS = ["/events/stream", "/operations/events/stream"]
"""Routes whose answers have no end, which tests/unit/gateway/test_feeds_api.py is about."""

OVERLAPPED = [
    "/operations/rebuild/plan",
    "/operations/dead_letters/drop",
    "/operations/dead_letters/redrive",
]
"""Paths that another route takes too, for which their last part is a step or a number of the wrong
form.
"""

OVERLAPPING = {
    name: {"enabled": False} for name in ("unsupported_method", "allow_header_conformance")
}


def described(**options: Any) -> Any:
    """The API's document for schemathesis, with the same examples in every run."""
    config: dict[str, Any] = {
        "seed": 20261121,
        # A loaded machine is no fault of the API.
        "suppress-health-check": ["all"],
        "generation": {"deterministic": True, "max-examples": 10, "database": "none"},
        "checks": {
            "not_a_server_error": {"expected-statuses": EXPECTED},
            # A body of many megabytes is refused for its length, before it is read.
            "negative_data_rejection": {"expected-statuses": ["4xx", "5xx"]},
            # Rules between fields are beyond a schema: as many sources as texts, one workspace in
            # two headers.
            "positive_data_acceptance": {"enabled": False},
        },
        "operations": [{"include-path": path, "checks": OVERLAPPING} for path in OVERLAPPED],
        **options,
    }
    schema = schemathesis.openapi.from_dict(DOCUMENT, config=SchemathesisConfig.from_dict(config))
    return schema.exclude(path=ENDLESS)


def calm(_: Any, response: Any, case: Any) -> None:
    """503 is right only for a place that the log has not, which was asked to be waited for; it says
    when to come back.

    Everything else of the service stands in memory and always answers.
    """
    if response.status_code == 503:
        assert response.headers["retry-after"], response.text
        assert isinstance(case.body, dict) and case.body.get("min_position"), response.text


ROUTES = described()
LINKED = described(parameters={"lightrag-workspace": "w", "x-workspace": "w"})

CALMLY = settings(
    max_examples=6,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)

TAGS = (("documents", "query"), ("graph",))
"""Routes whose links are followed together."""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a whole service; a question waits but shortly for a place in the log that does
    not come.
    """
    folder: Path = tmp_path_factory.mktemp("input") / "w"
    folder.mkdir()
    (folder / "port.md").write_text("Port Elm has a lighthouse.")
    harness = QueryHarness(log=FollowedLog())
    gateway_settings = GatewaySettings(
        workspace="w",
        edit_timeout=1,
        min_position_timeout=0.02,
        input_dir=str(folder.parent),
        ocr_max_pages=0,  # a picture takes seconds; tests/unit/gateway/documents/test_scans.py
    )
    app = harness.app(behind(lightrag_api_key=KEY), settings=gateway_settings)
    with serving(app, harness) as url:
        with httpx.Client(base_url=url, headers=HEADERS, trust_env=False) as api:
            for text in (*CURIE, *BAKER):
                assert api.post("/documents/text", json={"text": text}).status_code == 200
            until(
                lambda: (
                    api.get("/documents/status_counts").json()["status_counts"]["processed"] == 3
                )
            )
        yield url


@pytest.fixture(scope="module")
def session() -> Iterator[requests.Session]:
    """Connections that are kept between requests, with no look at proxies and passwords of this
    machine.
    """
    with requests.Session() as session:
        session.trust_env = False
        yield session


@pytest.mark.nightly
@ROUTES.parametrize()
def test_every_route_answers_as_described(
    case: Any, service: str, session: requests.Session
) -> None:
    case.call_and_validate(
        base_url=service, headers=HEADERS, additional_checks=[calm], session=session
    )


@pytest.mark.parametrize("tags", TAGS)
def test_what_follows_from_an_answer_is_answered_as_described_too(
    tags: tuple[str, ...], service: str
) -> None:
    transitions: set[str] = set()

    class Following(LINKED.include(tag=list(tags)).as_state_machine()):  # type: ignore[misc]
        def get_call_kwargs(self, case: Any) -> dict[str, Any]:
            return {"base_url": service, "headers": HEADERS}

        def validate_response(
            self, response: Any, case: Any, additional_checks: Any = None, **options: Any
        ) -> None:
            super().validate_response(response, case, [calm], **options)

        def step(self, input: Any) -> Any:
            output = super().step(input)
            if input.transition is not None and output.response.status_code in {200, 202}:
                transitions.add(input.transition.id)
            return output

    # What may follow depends on what the service holds by then, so the same beginning may go on in
    # another way. That is no fault; one that shows and does not come again is another error, which
    # is let through.
    for steps in range(6, 40, 2):
        with suppress(FlakyStrategyDefinition):
            Following.run(settings=settings(CALMLY, stateful_step_count=steps))
        if steps >= 10 and len(transitions) > 1:
            break
    assert len(transitions) > 1, transitions

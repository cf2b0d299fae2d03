"""A promoted branch is what readers of a workspace see: every route that reads either reads where
the branch is, or is about the workspace itself, as docs/branches.md has it.
"""

from collections.abc import Generator

from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute, iter_route_contexts

from services.gateway.app import create_app
from services.gateway.auth.permissions import required_right
from services.gateway.promoted_branches import read_workspace
from services.gateway.workspaces import workspace

ASKED_WHERE_THE_BRANCH_IS = {
    "POST /api/chat",
    "POST /api/generate",
    "POST /query",
    "POST /query/data",
    "POST /query/stream",
}
"""They take the workspace that is asked, for its receipts, and search in the branch: `place_of`."""

ABOUT_DOCUMENTS = {
    "GET /documents/access",
    "GET /documents/access/explain",
    "GET /documents/by_id",
    "GET /documents/languages",
    "GET /documents/pipeline_status",
    "GET /documents/scan/status/{track_id}",
    "GET /documents/status_counts",
    "GET /documents/supersessions/proposals",
    "GET /documents/track_status/{track_id}",
    "GET /documents/uploads",
    "GET /documents/{document_id:path}/figures/{sha256}",
    "GET /documents/{document_id:path}/original",
    "GET /documents/{document_id:path}/page",
    "GET /documents/{document_id:path}/validity",
    "GET /operations/erasures",
    "GET /operations/sources",
    "POST /documents/paginated",
}
"""Documents are added and changed in the workspace, and go into the branch from there."""

ABOUT_EDITS = {"GET /graph/aliases", "GET /graph/aliases/proposals"}
"""Edits are checked against the workspace's own graph."""

ABOUT_THE_PAST = {"GET /graph/entity/history", "GET /operations/diff"}
"""A promotion says what holds from now on, not what held before."""

ABOUT_EVENTS_AND_WORK = {
    "GET /branches",
    "GET /branches/orders",
    "GET /branches/{name}/comparison",
    "GET /branches/{name}/status",
    "DELETE /conversations/{id}",
    "GET /conversations",
    "PUT /conversations/{id}",
    "GET /documents/{document_id:path}/events",
    "GET /events",
    "GET /events/stream",
    "GET /events/{sequence}",
    "GET /feedback",
    "GET /golden-questions",
    "GET /golden-runs",
    "GET /health",
    "GET /operations/budget",
    "GET /operations/cost",
    "GET /operations/dead_letters",
    "GET /operations/dead_letters/{number}",
    "GET /operations/embedding",
    "GET /operations/figures",
    "GET /operations/parked",
    "GET /operations/webhooks",
    "GET /receipts",
    "GET /receipts/{id}",
    "GET /receipts/{id}/verification",
    "POST /feedback",
    "POST /receipts/{id}/replay",
}
"""A branch has events, receipts, costs and golden runs of its own, or has them in its origin."""


def dependencies(dependant: Dependant) -> Generator[Dependant]:
    """Yield what a route depends on, however far away."""
    for dependency in dependant.dependencies:
        yield dependency
        yield from dependencies(dependency)


def reading_routes() -> dict[str, set[object]]:
    """Return what each route that reads a workspace depends on, by method and path."""
    routes: dict[str, set[object]] = {}
    for context in iter_route_contexts(create_app().routes):
        route = context.original_route
        path = context.path or ""
        if not isinstance(route, APIRoute):
            continue
        calls: set[object] = {dependency.call for dependency in dependencies(route.dependant)}
        for method in route.methods:
            if required_right(method, path) == "read" and workspace in calls:
                routes[f"{method} {path}"] = calls
    return routes


def test_what_reads_sees_the_promoted_branch_or_is_listed_with_its_reason() -> None:
    routes = reading_routes()
    of_branch = {name for name, calls in routes.items() if read_workspace in calls}
    assert {"GET /graphs", "GET /passages/search", "GET /graph/provenance"} <= of_branch
    assert routes.keys() - of_branch == (
        ASKED_WHERE_THE_BRANCH_IS
        | ABOUT_DOCUMENTS
        | ABOUT_EDITS
        | ABOUT_THE_PAST
        | ABOUT_EVENTS_AND_WORK
    ), "a new route that reads takes `ReadWorkspace`, or is listed with its reason"

"""The route that Prometheus reads."""

from fastapi import APIRouter, Response

from runtime.metrics.exposition import CONTENT_TYPE, PATH
from services.gateway.operations.dependencies import OperationDeps
from services.gateway.operations.scope import WholeDeployment

router = APIRouter()


@router.get(PATH, include_in_schema=False)
async def metrics(operations: OperationDeps, _: WholeDeployment) -> Response:
    """Return the metrics of this process. They name no workspace, and yet tell how much goes on in
    all of them.
    """
    return Response(await operations.metrics(), media_type=CONTENT_TYPE)

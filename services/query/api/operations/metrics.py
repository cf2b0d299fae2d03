"""The route that Prometheus reads."""

from fastapi import APIRouter, Response

from runtime.metrics.exposition import CONTENT_TYPE, PATH
from services.query.api.context import Ctx
from services.query.api.operations.scope import WholeDeployment

router = APIRouter()


@router.get(PATH, include_in_schema=False)
async def metrics(ctx: Ctx, _: WholeDeployment) -> Response:
    """Return the metrics of this process. They name no workspace, and yet tell how much goes on in
    all of them.
    """
    return Response(await ctx.operations.metrics(), media_type=CONTENT_TYPE)

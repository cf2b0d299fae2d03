"""What a call of a tool comes with: who calls."""

from typing import Any

from mcp.server.mcpserver import Context

from mcp_server.query_service import CallerClient, CallerClients

ToolContext = Context[CallerClients, Any]


def caller_client(ctx: ToolContext) -> CallerClient:
    """Return the client of the query service that has the rights of the caller."""
    return ctx.request_context.lifespan_context.for_caller(ctx.headers)

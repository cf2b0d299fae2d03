"""The MCP server: the query service as tools for assistants, over stdio or HTTP."""

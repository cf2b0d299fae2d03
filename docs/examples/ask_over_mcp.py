"""Ask a running Lightstream over MCP with the official SDK, which starts `lightstream mcp` by
itself.

python ask_over_mcp.py API_URL QUESTION
"""

import asyncio
import os
import sys
from pathlib import Path

from mcp import Client
from mcp.client.stdio import StdioServerParameters


async def main(url: str, question: str) -> None:
    """Print an answer, and the files it is from."""
    server = StdioServerParameters(
        command=str(Path(sys.executable).with_name("lightstream")),
        args=["mcp", "--url", url],
        env=dict(os.environ),
    )
    # Over HTTP it is `Client("http://127.0.0.1:9626/mcp")`.
    async with Client(server) as client:
        result = await client.call_tool("ask", {"question": question})
        if result.is_error:
            sys.exit(" ".join(block.text for block in result.content if block.type == "text"))
        answer = result.structured_content or {}
        lines = [
            answer["answer"],
            *(f"[{citation['id']}] {citation['file']}" for citation in answer["citations"]),
        ]
        sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python ask_over_mcp.py API_URL QUESTION")
    asyncio.run(main(sys.argv[1], sys.argv[2]))

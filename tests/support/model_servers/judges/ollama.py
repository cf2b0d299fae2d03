"""The official client of Ollama."""

from typing import Any

import ollama

from tests.support.model_servers import RESULT, TOOL
from tests.support.model_servers import ollama as ollama_server
from tests.support.model_servers.judges.port import OPENAI_TOOL, Reading, ToolReading


class OllamaJudge:
    """`ollama.AsyncClient`."""

    def __init__(self, url: str) -> None:
        self._client = ollama.AsyncClient(url)

    async def close(self) -> None:
        await self._client.close()

    async def whole(self, prompt: str) -> Reading:
        answer = await self._client.chat(
            ollama_server.MODEL, [{"role": "user", "content": prompt}], options={"num_ctx": 64}
        )
        message = answer.message
        return self._reading(message.content or "", message.thinking or "", answer)

    async def streamed(self, prompt: str) -> Reading:
        text = reasoning = ""
        last = ollama.ChatResponse(message=ollama.Message(role="assistant"))
        stream = await self._client.chat(
            ollama_server.MODEL,
            [{"role": "user", "content": prompt}],
            stream=True,
            options={"num_ctx": 64},
        )
        async for last in stream:
            text += last.message.content or ""
            reasoning += last.message.thinking or ""
        return self._reading(text, reasoning, last)

    async def seeing(self, prompt: str, png: bytes) -> Reading:
        turn = ollama.Message(role="user", content=prompt, images=[ollama.Image(value=png)])
        answer = await self._client.chat(ollama_server.MODEL, [turn])
        return self._reading(answer.message.content or "", answer.message.thinking or "", answer)

    def _reading(self, text: str, reasoning: str, answer: ollama.ChatResponse) -> Reading:
        prompt = answer.prompt_eval_count or 0
        why = answer.done_reason or ""
        return Reading(text, reasoning, prompt, answer.eval_count or 0, 0, why)

    async def status(self, prompt: str) -> int:
        try:
            await self.whole(prompt)
        except ollama.ResponseError as error:
            return error.status_code
        return 200

    async def vectors(self, texts: list[str]) -> list[list[float]]:
        answer = await self._client.embed(ollama_server.MODEL, texts)
        return [list(row) for row in answer.embeddings]

    async def with_tool(self, prompt: str) -> ToolReading:
        turns: list[Any] = [{"role": "user", "content": prompt}]
        messages: list[Any] = []
        for _ in range(2):
            answer = await self._client.chat(ollama_server.MODEL, turns, tools=[OPENAI_TOOL])
            messages.append(answer.message)
            turns += [messages[0], {"role": "tool", "tool_name": TOOL, "content": RESULT}]
        function = messages[0].tool_calls[0].function
        return function.name, dict(function.arguments), messages[1].content

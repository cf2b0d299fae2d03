"""The official client of Anthropic."""

import base64
from typing import Any

import anthropic

from tests.support.model_servers import KEY, RESULT, TOOL
from tests.support.model_servers import anthropic as anthropic_server
from tests.support.model_servers.judges.port import LIMIT, SCHEMA, Reading, ToolReading


class AnthropicJudge:
    """`anthropic.AsyncAnthropic`."""

    def __init__(self, url: str) -> None:
        self._client = anthropic.AsyncAnthropic(base_url=url, api_key=KEY, max_retries=0)

    async def close(self) -> None:
        await self._client.close()

    async def whole(self, prompt: str) -> Reading:
        answer = await self._client.messages.create(
            model=anthropic_server.MODEL,
            max_tokens=LIMIT,
            messages=[{"role": "user", "content": prompt}],
        )
        return self._reading(answer)

    async def streamed(self, prompt: str) -> Reading:
        async with self._client.messages.stream(
            model=anthropic_server.MODEL,
            max_tokens=LIMIT,
            messages=[{"role": "user", "content": prompt}],
        ) as stream:
            return self._reading(await stream.get_final_message())

    async def seeing(self, prompt: str, png: bytes) -> Reading:
        data = base64.b64encode(png).decode()
        answer = await self._client.messages.create(
            model=anthropic_server.MODEL,
            max_tokens=LIMIT,
            messages=[
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "image",
                            "source": {"type": "base64", "media_type": "image/png", "data": data},
                        },
                        {"type": "text", "text": prompt},
                    ],
                }
            ],
        )
        return self._reading(answer)

    def _reading(self, answer: anthropic.types.Message) -> Reading:
        texts = [block.text for block in answer.content if block.type == "text"]
        thoughts = [block.thinking for block in answer.content if block.type == "thinking"]
        usage = answer.usage
        cached = usage.cache_read_input_tokens or 0
        prompt = usage.input_tokens + cached + (usage.cache_creation_input_tokens or 0)
        why = answer.stop_reason or ""
        return Reading("".join(texts), "".join(thoughts), prompt, usage.output_tokens, cached, why)

    async def status(self, prompt: str) -> int:
        try:
            await self.whole(prompt)
        except anthropic.APIStatusError as error:
            return error.status_code
        return 200

    async def vectors(self, texts: list[str]) -> list[list[float]]:
        raise NotImplementedError("Anthropic embeds nothing")

    async def with_tool(self, prompt: str) -> ToolReading:
        turns: list[Any] = [{"role": "user", "content": prompt}]
        answers: list[Any] = []
        tool: Any = {"name": TOOL, "description": "Find words.", "input_schema": SCHEMA}
        for _ in range(2):
            answer = await self._client.messages.create(
                model=anthropic_server.MODEL, max_tokens=LIMIT, messages=turns, tools=[tool]
            )
            answers.append(answer)
            call = answers[0].content[-1]
            result = {"type": "tool_result", "tool_use_id": call.id, "content": RESULT}
            turns += [
                {"role": "assistant", "content": answers[0].content},
                {"role": "user", "content": [result]},
            ]
        call = answers[0].content[-1]
        return call.name, dict(call.input), answers[1].content[0].text

"""The official client of Azure OpenAI."""

import base64
import json
from typing import Any

import openai

from tests.support.model_servers import KEY, RESULT
from tests.support.model_servers import azure as azure_server
from tests.support.model_servers.judges.port import OPENAI_TOOL, Reading, ToolReading


class AzureJudge:
    """`openai.AsyncAzureOpenAI`."""

    def __init__(self, url: str) -> None:
        self._client = openai.AsyncAzureOpenAI(
            azure_endpoint=url, api_key=KEY, api_version="2024-10-21", max_retries=0
        )

    async def close(self) -> None:
        await self._client.close()

    async def whole(self, prompt: str) -> Reading:
        answer = await self._client.chat.completions.create(
            model=azure_server.DEPLOYMENT, messages=[{"role": "user", "content": prompt}]
        )
        choice = answer.choices[0]
        return self._reading(choice.message.content or "", answer.usage, choice.finish_reason)

    async def streamed(self, prompt: str) -> Reading:
        text = reason = ""
        usage = None
        stream = await self._client.chat.completions.create(
            model=azure_server.DEPLOYMENT,
            messages=[{"role": "user", "content": prompt}],
            stream=True,
            stream_options={"include_usage": True},
        )
        async for event in stream:
            usage = event.usage or usage
            for choice in event.choices:
                text += choice.delta.content or ""
                reason = choice.finish_reason or reason
        return self._reading(text, usage, reason)

    async def seeing(self, prompt: str, png: bytes) -> Reading:
        address = f"data:image/png;base64,{base64.b64encode(png).decode()}"
        answer = await self._client.chat.completions.create(
            model=azure_server.DEPLOYMENT,
            messages=[
                {
                    "role": "user",
                    "content": [
                        {"type": "image_url", "image_url": {"url": address}},
                        {"type": "text", "text": prompt},
                    ],
                }
            ],
        )
        choice = answer.choices[0]
        return self._reading(choice.message.content or "", answer.usage, choice.finish_reason)

    def _reading(self, text: str, usage: openai.types.CompletionUsage | None, why: str) -> Reading:
        assert usage and usage.prompt_tokens_details
        cached = usage.prompt_tokens_details.cached_tokens or 0
        return Reading(text, "", usage.prompt_tokens, usage.completion_tokens, cached, why)

    async def status(self, prompt: str) -> int:
        try:
            await self.whole(prompt)
        except openai.APIStatusError as error:
            return error.status_code
        return 200

    async def vectors(self, texts: list[str]) -> list[list[float]]:
        answer = await self._client.embeddings.create(
            model=azure_server.DEPLOYMENT, input=texts, encoding_format="float"
        )
        return [row.embedding for row in answer.data]

    async def with_tool(self, prompt: str) -> ToolReading:
        turns: list[Any] = [{"role": "user", "content": prompt}]
        answers: list[Any] = []
        for _ in range(2):
            answer = await self._client.chat.completions.create(
                model=azure_server.DEPLOYMENT, messages=turns, tools=[OPENAI_TOOL]
            )
            answers.append(answer.choices[0].message)
            id = answers[0].tool_calls[0].id
            turns += [answers[0], {"role": "tool", "tool_call_id": id, "content": RESULT}]
        function = answers[0].tool_calls[0].function
        return function.name, json.loads(function.arguments), answers[1].content

"""The official client of Gemini."""

import asyncio
from typing import Any

from google import genai
from google.genai import errors as gemini_errors
from google.genai import types as gemini_types

from tests.support.model_servers import KEY, RESULT, TOOL
from tests.support.model_servers import gemini as gemini_server
from tests.support.model_servers.judges.port import (
    FUNCTION,
    Reading,
    ToolReading,
)


class GeminiJudge:
    """`google.genai.Client`."""

    def __init__(self, url: str) -> None:
        self._client = self.open_client(url, gemini_types.HttpOptions(base_url=url))

    def open_client(self, url: str, options: gemini_types.HttpOptions) -> genai.Client:
        """The client of the server at `url`."""
        del url
        return genai.Client(api_key=KEY, vertexai=False, http_options=options)

    async def close(self) -> None:
        self._client.close()
        await self._client.aio.aclose()

    async def whole(self, prompt: str) -> Reading:
        # Its asynchronous client warns of itself: it inherits from a class of aiohttp.
        answer = await asyncio.to_thread(
            self._client.models.generate_content, model=gemini_server.MODEL, contents=prompt
        )
        return self._reading([answer])

    async def streamed(self, prompt: str) -> Reading:
        def read() -> list[gemini_types.GenerateContentResponse]:
            stream = self._client.models.generate_content_stream(
                model=gemini_server.MODEL, contents=prompt
            )
            return list(stream)

        return self._reading(await asyncio.to_thread(read))

    async def seeing(self, prompt: str, png: bytes) -> Reading:
        picture = gemini_types.Part.from_bytes(data=png, mime_type="image/png")
        parts = [picture, gemini_types.Part(text=prompt)]
        answer = await asyncio.to_thread(
            self._client.models.generate_content,
            model=gemini_server.MODEL,
            contents=[gemini_types.Content(role="user", parts=parts)],
        )
        return self._reading([answer])

    def _reading(self, answers: list[gemini_types.GenerateContentResponse]) -> Reading:
        parts = [
            part
            for answer in answers
            for candidate in answer.candidates or []
            for part in (candidate.content and candidate.content.parts) or []
        ]
        text = "".join(part.text or "" for part in parts if not part.thought)
        reasoning = "".join(part.text or "" for part in parts if part.thought)
        usage = answers[-1].usage_metadata
        last = (answers[-1].candidates or [None])[0]
        why = last.finish_reason.value if last and last.finish_reason else ""
        if usage is None:
            return Reading(text, reasoning, 0, 0, 0, why)
        completion = (usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0)
        prompt = usage.prompt_token_count or 0
        cached = usage.cached_content_token_count or 0
        return Reading(text, reasoning, prompt, completion, cached, why)

    async def status(self, prompt: str) -> int:
        try:
            await self.whole(prompt)
        except gemini_errors.APIError as error:
            return error.code
        return 200

    async def vectors(self, texts: list[str]) -> list[list[float]]:
        answer = await asyncio.to_thread(
            self._client.models.embed_content,
            model=gemini_server.MODEL,
            contents=[gemini_types.Content(parts=[gemini_types.Part(text=text)]) for text in texts],
        )
        return [list(row.values or []) for row in answer.embeddings or []]

    async def with_tool(self, prompt: str) -> ToolReading:
        return await asyncio.to_thread(self._with_tool, prompt)

    def _with_tool(self, prompt: str) -> ToolReading:
        turns: list[Any] = [
            gemini_types.Content(role="user", parts=[gemini_types.Part(text=prompt)])
        ]
        tool: Any = gemini_types.Tool(function_declarations=[FUNCTION])
        config = gemini_types.GenerateContentConfig(tools=[tool])
        contents: list[Any] = []
        for _ in range(2):
            answer = self._client.models.generate_content(
                model=gemini_server.MODEL, contents=turns, config=config
            )
            contents.append((answer.candidates or [])[0].content)
            result = gemini_types.Part.from_function_response(
                name=TOOL, response={"result": RESULT}
            )
            turns += [contents[0], gemini_types.Content(role="user", parts=[result])]
        call = contents[0].parts[0].function_call
        return call.name, dict(call.args), contents[1].parts[0].text

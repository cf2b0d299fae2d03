"""The official clients of providers, which say whether a server of ours is like theirs."""

import asyncio
import base64
import json
from dataclasses import dataclass
from typing import Any, Protocol

import anthropic
import ollama
import openai
from botocore.config import Config
from botocore.exceptions import ClientError
from botocore.session import Session
from google import genai
from google.genai import errors as gemini_errors
from google.genai import types as gemini_types

from tests.support.model_servers import KEY, RESULT, TOOL
from tests.support.model_servers import anthropic as anthropic_server
from tests.support.model_servers import azure as azure_server
from tests.support.model_servers import bedrock as bedrock_server
from tests.support.model_servers import gemini as gemini_server
from tests.support.model_servers import ollama as ollama_server

LIMIT = 1000
"""Tokens of an answer that judges ask for."""


@dataclass(frozen=True)
class Reading:
    """What a client has read of an answer."""

    text: str
    reasoning: str
    prompt: int
    completion: int
    cached: int
    reason: str


ToolReading = tuple[str, dict[str, Any], str]
"""Name and arguments of the call, and the text that answers its result."""

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"keywords": {"type": "array", "items": {"type": "string"}}},
    "required": ["keywords"],
}
"""The arguments of the tool."""

FUNCTION: Any = {"name": TOOL, "description": "Find words.", "parameters": SCHEMA}
OPENAI_TOOL: Any = {"type": "function", "function": FUNCTION}


class Judge(Protocol):
    """An official client."""

    async def whole(self, prompt: str) -> Reading:
        """Read a whole answer."""
        ...

    async def streamed(self, prompt: str) -> Reading:
        """Read a streamed answer."""
        ...

    async def seeing(self, prompt: str, png: bytes) -> Reading:
        """Read the answer to a picture and a text."""
        ...

    async def status(self, prompt: str) -> int:
        """Return the status of the error that the prompt brings."""
        ...

    async def vectors(self, texts: list[str]) -> list[list[float]]:
        """Return vectors."""
        ...

    async def with_tool(self, prompt: str) -> ToolReading:
        """Offer the tool, give its result when it is called, and read the answer."""
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...


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


class GeminiJudge:
    """`google.genai.Client`."""

    def __init__(self, url: str) -> None:
        options = gemini_types.HttpOptions(base_url=url)
        self._client = genai.Client(api_key=KEY, vertexai=False, http_options=options)

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


class BedrockJudge:
    """`botocore`, whose model of the service says what may be sent and what comes."""

    def __init__(self, url: str) -> None:
        session: Any = Session()
        self._client: Any = session.create_client(
            "bedrock-runtime",
            region_name="us-east-1",
            endpoint_url=url,
            aws_access_key_id=bedrock_server.ACCOUNT,
            aws_secret_access_key=KEY,
            config=Config(retries={"total_max_attempts": 1}),
        )

    async def close(self) -> None:
        self._client.close()

    async def whole(self, prompt: str) -> Reading:
        return await self._whole(self._request(prompt))

    async def seeing(self, prompt: str, png: bytes) -> Reading:
        request = self._request(prompt)
        picture = {"image": {"format": "png", "source": {"bytes": png}}}
        request["messages"][0]["content"].insert(0, picture)
        return await self._whole(request)

    async def _whole(self, request: dict[str, Any]) -> Reading:
        answer = await asyncio.to_thread(self._client.converse, **request)
        parts = answer["output"]["message"]["content"]
        text = "".join(part.get("text", "") for part in parts)
        thoughts = [part["reasoningContent"] for part in parts if "reasoningContent" in part]
        reasoning = "".join(thought["reasoningText"]["text"] for thought in thoughts)
        return self._reading(text, reasoning, answer["usage"], answer["stopReason"])

    async def streamed(self, prompt: str) -> Reading:
        return await asyncio.to_thread(self._streamed, prompt)

    def _streamed(self, prompt: str) -> Reading:
        text = reasoning = reason = ""
        usage: dict[str, int] = {}
        for event in self._client.converse_stream(**self._request(prompt))["stream"]:
            delta = event.get("contentBlockDelta", {}).get("delta", {})
            text += delta.get("text", "")
            reasoning += delta.get("reasoningContent", {}).get("text", "")
            reason = event.get("messageStop", {}).get("stopReason", reason)
            usage = event.get("metadata", {}).get("usage", usage)
        return self._reading(text, reasoning, usage, reason)

    def _request(self, prompt: str) -> dict[str, Any]:
        turns = [{"role": "user", "content": [{"text": prompt}]}]
        return {"modelId": bedrock_server.MODEL, "messages": turns}

    def _reading(self, text: str, reasoning: str, usage: dict[str, int], why: str) -> Reading:
        cached = usage["cacheReadInputTokens"]
        prompt = usage["inputTokens"] + cached + usage["cacheWriteInputTokens"]
        return Reading(text, reasoning, prompt, usage["outputTokens"], cached, why)

    async def status(self, prompt: str) -> int:
        try:
            await self.whole(prompt)
        except ClientError as error:
            response: Any = error.response
            return int(response["ResponseMetadata"]["HTTPStatusCode"])
        return 200

    async def vectors(self, texts: list[str]) -> list[list[float]]:
        return await asyncio.to_thread(lambda: [self._vector(text) for text in texts])

    def _vector(self, text: str) -> list[float]:
        body = json.dumps({"inputText": text})
        answer = self._client.invoke_model(modelId=bedrock_server.MODEL, body=body)
        return json.loads(answer["body"].read())["embedding"]

    async def with_tool(self, prompt: str) -> ToolReading:
        return await asyncio.to_thread(self._with_tool, prompt)

    def _with_tool(self, prompt: str) -> ToolReading:
        names = {"name": TOOL, "description": "Find words."}
        tools = [{"toolSpec": {**names, "inputSchema": {"json": SCHEMA}}}]
        request = {**self._request(prompt), "toolConfig": {"tools": tools}}
        messages: list[Any] = []
        call: dict[str, Any] = {}
        for _ in range(2):
            messages.append(self._client.converse(**request)["output"]["message"])
            call = messages[0]["content"][-1]["toolUse"]
            result = {"toolUseId": call["toolUseId"], "content": [{"text": RESULT}]}
            request["messages"] = [
                *request["messages"],
                messages[0],
                {"role": "user", "content": [{"toolResult": result}]},
            ]
        return call["name"], call["input"], messages[1]["content"][0]["text"]

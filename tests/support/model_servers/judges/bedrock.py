"""The official client of Bedrock."""

import asyncio
import json
from typing import Any

from botocore.config import Config
from botocore.exceptions import ClientError
from botocore.session import Session

from tests.support.model_servers import KEY, RESULT, TOOL
from tests.support.model_servers import bedrock as bedrock_server
from tests.support.model_servers.judges.port import (
    SCHEMA,
    Reading,
    ToolReading,
)


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

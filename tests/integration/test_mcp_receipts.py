"""An answer over MCP leaves a receipt, and says which."""

from runtime.receipts.reading import find_receipt
from tests.support.mcp_servers import connected, listening
from tests.support.querying import library_of_two
from tests.support.questions import local_questions, receipts_of


async def test_an_answer_has_its_receipt() -> None:
    harness = await library_of_two()
    receipts = receipts_of(harness)
    asked = local_questions(harness, receipts)
    async with (
        listening(harness=harness, questions=asked) as url,
        connected("http", url) as client,
    ):
        answer = await client.call_tool("ask", {"question": "Who discovered radium?"})
        assert answer.structured_content is not None
        await receipts.publish()
        receipt = await find_receipt(harness.log, "w", answer.structured_content["receipt"])
    assert receipt is not None
    assert receipt.event.question.text == "Who discovered radium?"

"""Documents are extracted in batches of the provider, and the extractor is killed while it works on
them: every call is paid once, at half the price, and the graph is the same as without batches.
"""

from pathlib import Path
from typing import Any

import pytest

from tests.support.language_model import CHAT_MODEL, KEY, LanguageModel
from tests.support.model_servers import batch_jobs
from tests.support.model_servers.batch_jobs import BatchJobs
from tests.support.stack import Stack, running, until

pytestmark = pytest.mark.nightly  # without a stack: tests/integration/test_batches.py

COUNT = 40
TEXTS = {
    f"log{number}.txt": f"On day {number} Ada Marlow met Ben Harrow in Port Elm. They were Glad."
    for number in range(COUNT)
}
SUMMARY = "waits for a batch of 127.0.0.1 since"
BATCHES = {
    "EXTRACT_LLM_BATCH": "true",
    "EXTRACT_LLM_BATCH_WORKSPACES": "batches",
    "EXTRACT_LLM_BATCH_GATHER": "2",
    "EXTRACT_LLM_BATCH_POLL": "0.5",
    "MODEL_PRICES": f'{{"{CHAT_MODEL}": {{"prompt": 1, "completion": 2}}}}',
}


def extracted_lines(jobs: BatchJobs) -> int:
    return sum(len(job.lines) for job in jobs.jobs.values())


def money(stack: Stack, workspace: str) -> float:
    report: dict[str, Any] = stack.json("cost", "--workspace", workspace)
    return report["total"]["money"]


def test_a_killed_extractor_pays_no_call_of_a_batch_twice(tmp_path: Path) -> None:
    model = LanguageModel()
    jobs = BatchJobs(lambda body: model.answer(body, f"Bearer {KEY}")[:2])
    with batch_jobs.serving(jobs):
        model.url = f"{jobs.url}/v1"
        with running(tmp_path / "data", **{**model.environment(), **BATCHES}) as stack:
            stack.add(TEXTS, workspace="calls")
            stack.settled(COUNT, workspace="calls")
            calls = model.calls["extract"] + model.calls["glean"]
            stack.add(TEXTS, workspace="batches")
            for lines in (COUNT, 2 * COUNT):
                until(lambda lines=lines: extracted_lines(jobs) == lines, stack.logs)
                until(lambda: SUMMARY in stack.run("cost", "--workspace", "batches").stdout)
                stack.kill("extractor")
                jobs.finish()
            stack.settled(COUNT, workspace="batches")
            until(lambda: set(jobs.files) <= set(jobs.removed), stack.logs)
            assert model.calls["extract"] + model.calls["glean"] == 2 * calls
            assert extracted_lines(jobs) == 2 * COUNT
            assert stack.digest("batches")["graph"] == stack.digest("calls")["graph"]
            assert money(stack, "batches") == pytest.approx(money(stack, "calls") / 2)

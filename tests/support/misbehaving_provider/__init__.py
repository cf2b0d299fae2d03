"""A provider behind the OpenAI routes that misbehaves as real ones were reported to.

Chat: a marker word of the passage or of the question chooses what happens (`ZZMODERATION` is
refused with 403), so that good and bad documents share one stack; every prompt without a marker
is answered well. The words stand, with what they do, in `refusals.py` (no answer), `messages.py`
(what an answer says), `streams.py` and `token_usage.py`. Embeddings and reranking have modes, set
for all requests by `POST /mode` or `provider.set_mode(embeddings="tei")`: `embedding.py` and
`reranking.py`; some chat modes refuse parameters: `chat.py`. `GET /log` tells what was asked.

    with serving() as provider:
        with running(folder, **provider.environment()) as stack:
            stack.add({"bad.md": "Ada Marlow and ZZMODERATION."})

`python -m tests.support.misbehaving_provider 8080` serves until it is interrupted.
"""

from tests.support.misbehaving_provider.server import MisbehavingProvider, serving

__all__ = ["MisbehavingProvider", "serving"]

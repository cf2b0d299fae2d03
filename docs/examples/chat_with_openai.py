"""Ask the documents with OpenAI's client, and ask on: python chat_with_openai.py MODEL QUESTION
[QUESTION …]
"""

import sys
from typing import Any

from openai import OpenAI

client = OpenAI()  # OPENAI_BASE_URL and OPENAI_API_KEY say where and with which key
messages: list[Any] = []
for question in sys.argv[2:]:
    messages.append({"role": "user", "content": question})
    answer = ""
    for chunk in client.chat.completions.create(model=sys.argv[1], messages=messages, stream=True):
        piece = chunk.choices[0].delta.content or ""
        answer += piece
        print(piece, end="", flush=True)
        for reference in (chunk.model_extra or {}).get("references", []):
            print(f"\n{reference['reference_id']}: {reference['file_path']}")
    messages.append({"role": "assistant", "content": answer})

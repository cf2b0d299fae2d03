"""Ask the documents with Ollama's client, and ask on: python chat_with_ollama.py QUESTION [QUESTION
…]
"""

import sys

from ollama import Client

client = Client()  # OLLAMA_HOST and OLLAMA_API_KEY say where and with which key
model = client.list().models[0].model or ""
messages: list[dict[str, str]] = []
for question in sys.argv[1:]:
    messages.append({"role": "user", "content": question})
    answer = ""
    for part in client.chat(model, messages, stream=True):
        answer += part.message.content or ""
        print(part.message.content, end="", flush=True)
    print()
    messages.append({"role": "assistant", "content": answer})

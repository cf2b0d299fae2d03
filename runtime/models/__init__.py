"""Language model, embedder, reranker and tokenizer: `port.py` and its adapters, opened by settings, with rate limits."""

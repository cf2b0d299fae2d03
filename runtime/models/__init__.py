"""Language model, embedder, reranker and tokenizer: their port, and adapters opened by settings,
with rate limits.
"""

"""How a document becomes chunks: pure functions of its text, a tokenizer and the chunking
settings.
"""

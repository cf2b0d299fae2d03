"""How a document becomes chunks: pure functions of its text, a tokenizer and what was asked for."""

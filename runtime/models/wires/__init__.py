"""How each kind of provider is spoken to: a wire translates requests and answers of OpenAI's form,
which chat and embedder use, into the provider's own.
"""

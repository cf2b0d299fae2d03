"""Routes and models that exist for compatible clients only: those of Ollama's and OpenAI's
protocols, and those that LightRAG's clients and its web page expect.
"""

"""Embedding models that run here: all-MiniLM-L6-v2, and hashed words as the last resort."""

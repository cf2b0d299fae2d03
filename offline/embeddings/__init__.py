"""Embedding models that run here: all-MiniLM-L6-v2, a multilingual encoder of sentences, and hashed
words as the last resort.
"""

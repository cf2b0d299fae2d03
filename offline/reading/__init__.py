"""A small model that reads a question and a sentence together."""

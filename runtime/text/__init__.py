"""Texts on their way to and from models and parsers: reasoning apart from answers, faulty JSON,
characters that carry nothing, places where a text may be cut without changing a token.

Functions of the text alone: no model, no settings, no input or output.
"""

"""Keywords and answers without a language model: the question's own words, and sentences of the
retrieved passages.
"""

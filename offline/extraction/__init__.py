"""Extraction without a language model: entities and relations by rules, as a function of the text
and its headings.
"""

"""The ports of this service over the document store, the models and their caches. Only the wiring
imports them.
"""

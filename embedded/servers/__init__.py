"""The three embedded servers, one module each: how it is configured, started and known to be
ready.
"""

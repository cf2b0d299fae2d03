"""The three stores: a package each, with a port and its adapters; `port.py` here is the port of
checkpoints.
"""

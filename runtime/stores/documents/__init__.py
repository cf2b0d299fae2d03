"""The document store, rows of JSON by key: its port, its adapters, and what is built on the
port.
"""

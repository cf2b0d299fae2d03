"""The bus: its port, the processor between log and handlers, adapters on NATS and in memory, and
publishing.
"""

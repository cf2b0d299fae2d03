"""The bus: its port, the processor between log and handlers, the adapters on NATS and in memory, and what publishers need."""

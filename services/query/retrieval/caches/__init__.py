"""What one process keeps in memory between questions: parts of the graph, vectors, and indexes of
entity names.

Implementations of ports of retrieval; nothing in retrieval imports them but the wiring.
"""

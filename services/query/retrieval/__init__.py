"""From a question to its evidence: keywords, LightRAG's search modes, token budgets, reranking.

`retrieve.py` runs the stages through ports; each decision is a pure function in a module of its
own.
"""

"""The mode `walk`, for questions of several hops: personalised PageRank and beam search over a subgraph.

`walk.py` reads the stores hop by hop; the other modules are pure functions.
"""

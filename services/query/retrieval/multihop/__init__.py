"""The mode `walk`, for questions of several hops: a beam search for paths over the index of
passages.

`walk.py` reads the stores; the other modules but `neighbourhood.py` are pure functions.
"""

"""A second region: mirrors of the log and of what belongs to it, stores made from them, and the way
to make it the one that is written to.
"""

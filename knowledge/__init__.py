"""The graph as a function of the log: what contributions, edits and summaries add up to, in
whatever order they come.

The merger computes it step by step as events come, the query service at once for a time in the
past.
"""

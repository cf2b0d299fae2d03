"""Documents and graph of a workspace at any place of its log, folded in memory; what changed, and
undoing it.
"""

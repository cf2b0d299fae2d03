"""The past of workspaces: read from the log, folded in memory, and what questions about it are
answered from.
"""

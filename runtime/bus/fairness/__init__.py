"""Fair turns between workspaces: messages behind the backlog of another workspace are handled
before their delivery.
"""

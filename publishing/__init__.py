"""What gateway, command line and client ask for, as events: documents to add, publish again,
cancel, delete or retry, and edits of the graph.
"""

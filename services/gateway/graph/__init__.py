"""Routes and models of the knowledge graph: browsing it, and creating, changing, merging and
deleting what is in it.
"""

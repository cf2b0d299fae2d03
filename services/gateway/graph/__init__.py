"""The knowledge graph for people: browsing it within bounds, editing it by events, and what names
mean in it.
"""

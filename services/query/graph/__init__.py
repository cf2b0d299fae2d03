"""The knowledge graph for people: browsing it within bounds, and editing it by events."""

"""Whether questions find in one graph what LightRAG finds in it, in the same order."""

"""Index of a workspace's passages for the mode `walk`: words, sentences, entities, and ways between
passages.
"""

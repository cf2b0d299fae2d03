"""What a language model reads: the lines of a context, the prompts, and the reference ids that
answers cite.

Pure functions. Retrieval counts the tokens of these texts, answering sends them.
"""

"""Text analysis that several services share: sentence splitting, scripts and CJK ranges, word
lists, names in a text.

Functions of the text alone: no model, no settings, no input or output.
"""

"""Language analysis that several services share: scripts, sentences, words, stems, names in a text.

Functions of the text alone: no model, no settings, no input or output.
"""

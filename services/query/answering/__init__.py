"""From a question and its evidence to an answer: the model's call, and the cleaning of what it
writes.

Citations of unknown files, made-up reference lists and dangerous Markdown are taken out here, in
one piece or streamed.
"""

"""Routes and models of questions: an answer, an answer in a stream of lines, and the data that an
answer rests on.
"""

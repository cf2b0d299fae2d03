"""Files to text: which kind a file is, its encoding, a reader for each kind, and a process of its
own to read it in.
"""

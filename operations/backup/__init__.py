"""A copy of the log in a folder: taken while the stack runs, verified anywhere, restored into an
empty stack.
"""

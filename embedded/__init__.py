"""The embedded stack of a data folder: its servers and services as child processes, their ports,
files and supervisor.

Code that starts, watches or stops a process of the stack belongs here; it does not know what
commands do with a stack.
"""

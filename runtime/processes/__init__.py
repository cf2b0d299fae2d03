"""Several processes behind one port: the parent process, its dispatcher of connections, and the
worker's end.
"""

"""How documents enter the log: what gateway, command line and client call to add, reprocess, cancel
and delete one.
"""

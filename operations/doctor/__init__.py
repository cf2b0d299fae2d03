"""`lightstream doctor`: findings about machine, bus, services and stores, each with a way to repair
it.
"""

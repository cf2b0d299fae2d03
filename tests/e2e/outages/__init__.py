"""Each store, the bus and the models are away for a minute. A file runs while others do: it mostly
waits.
"""

"""The language between services: events in their envelope, ids, subjects, streams, consumers and
users of the bus.
"""

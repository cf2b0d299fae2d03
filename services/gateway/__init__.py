"""The HTTP API: `app.py` assembles the application from the routes of the packages beside it, each
with its models.

A route translates a request into one call of a use case and its result into an answer; it decides
nothing.
"""

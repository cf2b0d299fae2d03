"""The HTTP API: `app.py` assembles the application from slices, one package for each subject with
its routes, models and use case.

A route translates a request into one call of a use case and its result into an answer; it decides
nothing.
"""

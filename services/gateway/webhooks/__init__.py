"""Webhooks: events of a workspace sent to addresses that somebody registered, signed by Standard
Webhooks.
"""

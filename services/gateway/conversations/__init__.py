"""Conversations: what somebody asked, kept for the account."""

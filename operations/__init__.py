"""Operations on a running stack or deployment: adding documents, rebuilds, digests, settings,
parked events, schema.

Each returns values; printing them belongs to `cli`.
"""

"""The official clients of providers, which say whether a server of ours is like theirs."""

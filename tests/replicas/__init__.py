"""Several replicas of every service at once, and a rolling restart of all under load: `make
replicas`.
"""

"""The bus on NATS JetStream: the log, long texts, key-value buckets, looking ahead, parked events,
damage.
"""

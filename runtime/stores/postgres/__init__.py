"""What the adapters of all three stores share on PostgreSQL: address, connections, errors."""

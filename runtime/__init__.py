"""What every process does alike: the bus, the stores, the models, parsing, settings, telemetry. It knows no service."""

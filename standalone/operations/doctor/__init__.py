"""`lightstream doctor`: findings about the machine, the bus, the services and the stores, each with a way to repair it."""

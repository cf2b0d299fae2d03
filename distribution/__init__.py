"""How the project is packed for others: a wheel with one import package, an sdist, notes."""

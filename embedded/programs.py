"""Which module is run as each service, and where modules are found. It imports next to nothing: who
forks programs starts with it.
"""

from pathlib import Path


def service_module(name: str) -> str:
    """Return the module that is run as this service. Questions are answered in the process that has
    the HTTP routes.
    """
    return "services.gateway.main" if name == "query" else f"services.{name}.main"


def import_path() -> str:
    """Return the folder that this project's modules are imported from: of a checkout, or of an
    environment that has the wheel.
    """
    return str(Path(__file__).resolve().parents[__name__.count(".")])

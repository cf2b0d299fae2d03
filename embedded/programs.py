"""Which module is run as each service. It imports nothing: who forks programs starts with it."""


def service_module(name: str) -> str:
    """Return the module that is run as this service. Questions are answered in the process that has
    the HTTP routes.
    """
    return "services.gateway.main" if name == "query" else f"services.{name}.main"

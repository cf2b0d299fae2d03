"""How models are reached: address, key and whatever else stands in the place of a key."""

from urllib.parse import urlsplit

from runtime.models.bindings import (
    ADDRESSES,
    GEMINI,
    OPENAI,
    Connection,
    EntraApplication,
    ManagedIdentity,
    VertexProject,
    vertex_address,
)
from runtime.provider_settings import (
    ANY_IDENTITY,
    APPLICATION,
    MANAGED_IDENTITY,
    WORKLOAD_IDENTITY,
)
from runtime.settings import Settings


def server_of(address: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(address)
    return parts.scheme, parts.hostname, parts.port


def address_of(settings: Settings, binding: str, address: str) -> str:
    """Return the address of a binding where a setting gives `address`; empty where none is
    known.
    """
    general = settings.openai_base_url if binding == OPENAI else ""
    if binding == GEMINI and (project := vertex_project(settings)):
        return address or vertex_address(project.location)
    return address or general or ADDRESSES.get(binding, "")


def key_of(settings: Settings, binding: str, key: str) -> str:
    """Return the key of a binding where a setting gives `key`. OPENAI_API_KEY goes to no other
    provider.
    """
    if binding == OPENAI:
        return key or settings.openai_api_key.get_secret_value()
    if binding == "bedrock":
        return key or settings.aws_bearer_token_bedrock.get_secret_value()
    return key


def entra_identity(settings: Settings) -> EntraApplication | ManagedIdentity | None:
    """Return who asks Azure; None where nobody is set."""
    credential = settings.azure_token_credentials
    secret = settings.azure_client_secret.get_secret_value()
    file = settings.azure_federated_token_file
    application = EntraApplication(
        settings.azure_authority_host,
        settings.azure_tenant_id,
        settings.azure_client_id,
        "" if credential == WORKLOAD_IDENTITY else secret,
        "" if credential == APPLICATION else file,
    )
    has_proof = bool(application.secret or application.token_file)
    if credential != MANAGED_IDENTITY and application.tenant and application.client and has_proof:
        return application
    is_managed = credential in (MANAGED_IDENTITY, ANY_IDENTITY)
    return ManagedIdentity(settings.azure_client_id) if is_managed else None


def vertex_project(settings: Settings) -> VertexProject | None:
    """Return the project in Google Cloud that Gemini is asked of; None for Gemini's own service."""
    if not settings.google_genai_use_vertexai:
        return None
    return VertexProject(settings.google_cloud_project, settings.google_cloud_location)


def embedding_connection(settings: Settings) -> Connection:
    """Return how the embedding model's endpoint is reached."""
    binding = settings.embedding_binding
    return Connection(
        address_of(settings, binding, settings.embedding_base_url),
        key_of(settings, binding, settings.embedding_api_key.get_secret_value()),
        settings.azure_embedding_api_version,
        settings.azure_embedding_deployment,
        region=settings.aws_region,
        window=settings.ollama_embedding_num_ctx,
        entra=entra_identity(settings),
        vertex=vertex_project(settings),
    )

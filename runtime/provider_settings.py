"""Settings of single providers of models: what their own programs call by the same names."""

from typing import Literal

from pydantic import AliasChoices, Field, SecretStr

from runtime.environment_settings import EnvironmentSettings

APPLICATION = "EnvironmentCredential"
WORKLOAD_IDENTITY = "WorkloadIdentityCredential"
MANAGED_IDENTITY = "ManagedIdentityCredential"
ANY_IDENTITY = "prod"
"""Who asks Azure, as Microsoft's libraries name it: an application by its secret or by the token of
its workload, an identity of the machine, or the first of these that is there.
"""


class ProviderSettings(EnvironmentSettings):
    """Settings of Azure, Google Cloud, Ollama and AWS."""

    azure_openai_api_version: str = Field(
        default="", description="`api-version` of Azure's language models; empty: 2024-10-21"
    )
    azure_openai_deployment: str = Field(default="", description="Azure's name of LLM_MODEL")
    azure_openai_batch_deployment: str = Field(
        default="", description="Azure's deployment that answers batches; empty: that of all calls"
    )
    azure_embedding_api_version: str = Field(
        default="", description="`api-version` of Azure's embedding models; empty: 2024-10-21"
    )
    azure_embedding_deployment: str = Field(
        default="", description="Azure's name of EMBEDDING_MODEL"
    )
    azure_tenant_id: str = Field(
        default="", description="tenant of Entra ID, which Azure is asked through without a key"
    )
    azure_client_id: str = Field(default="", description="the application there")
    azure_client_secret: SecretStr = Field(
        default=SecretStr(""), description="its secret", repr=False
    )
    azure_federated_token_file: str = Field(
        default="", description="a file with the token of a workload, instead of a secret"
    )
    azure_token_credentials: Literal[
        "",
        "prod",
        "EnvironmentCredential",
        "WorkloadIdentityCredential",
        "ManagedIdentityCredential",
    ] = Field(
        default="",
        description=(
            "who asks Azure without a key: `ManagedIdentityCredential` is the machine's identity; "
            "empty: the application, if there is one"
        ),
    )
    azure_authority_host: str = Field(
        default="https://login.microsoftonline.com", description="what gives tokens of Entra ID"
    )
    google_genai_use_vertexai: bool = Field(
        default=False, description="whether Gemini is asked of Google Cloud (Vertex AI)"
    )
    google_cloud_project: str = Field(default="", description="the project there")
    google_cloud_location: str = Field(default="global", description="its place there")
    google_application_credentials: str = Field(
        default="", description="file of an account of Google Cloud; empty: the machine's own"
    )
    ollama_llm_num_ctx: int = Field(
        default=32768,
        ge=0,
        description="tokens of the context window that Ollama is asked for; 0: its own default",
    )
    ollama_embedding_num_ctx: int = Field(
        default=0, ge=0, description="the same for embeddings; 0: its own default"
    )
    aws_region: str = Field(
        default="",
        validation_alias=AliasChoices("AWS_REGION", "AWS_DEFAULT_REGION"),
        description="region of Bedrock; empty: us-east-1",
    )
    aws_bearer_token_bedrock: SecretStr = Field(
        default=SecretStr(""),
        description="Bedrock's API key, where LLM_API_KEY or EMBEDDING_API_KEY is empty",
    )

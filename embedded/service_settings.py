"""The settings of everything that a stack starts, examined before anything of it is."""

import os
from collections.abc import Mapping

from embedded.environment import settings_from
from embedded.operator_process import OrderSettings
from embedded.ports import USUAL_ADDRESS
from runtime.environment_settings import EnvironmentSettings, UnusableSettings, unusable
from runtime.errors import ConfigurationError
from runtime.models.roles import RoleSettings, SummarySettings
from runtime.parsing.settings import ParserSettings
from runtime.provider_settings import ProviderSettings
from runtime.settings import Settings
from runtime.variables import Fault
from services.chunker.settings import ChunkerSettings
from services.extractor.settings import ExtractorSettings
from services.gateway.auth.settings import AccessSettings
from services.gateway.settings import GatewaySettings, WebhookSettings
from services.indexer.settings import IndexerSettings
from services.merger.settings import MergerSettings
from services.query.questions.settings import (
    QuestionClientSettings,
    QuestionKeySettings,
    QuestionServerSettings,
)
from services.query.settings import QuerySettings

SERVICE_SETTINGS: dict[str, type[EnvironmentSettings]] = {
    "every service": Settings,
    "single providers of models": ProviderSettings,
    "models of single roles": RoleSettings,
    "summaries of descriptions": SummarySettings,
    "the chunker": ChunkerSettings,
    "the extractor": ExtractorSettings,
    "the merger": MergerSettings,
    "the indexer": IndexerSettings,
    "the query service": QuerySettings,
    "the gateway": GatewaySettings,
    "questions apart": QuestionKeySettings,
    "the gateway without the query service": QuestionClientSettings,
    "the query service without the gateway": QuestionServerSettings,
    "services that read files": ParserSettings,
    "webhooks": WebhookSettings,
    "access to the API": AccessSettings,
    "the process that takes orders": OrderSettings,
}
"""Groups of settings by who reads them."""


def refuse_unusable(host: str) -> None:
    """Raise UnusableSettings where services could not start with this process's environment, and an
    API that listens at `host`.
    """
    if all_faults := faults(host):
        raise UnusableSettings(all_faults)


def faults(host: str = "") -> list[Fault]:
    """Return why services cannot start with this process's environment; no secret is in it. The
    API listens at `host`; empty: where HOST says.

    What the variables name, and what they say together, is examined without those of no use.
    """
    all_faults = unusable(SERVICE_SETTINGS.values())
    faulty_variables = {fault.variable for fault in all_faults}
    environ = {
        name: value for name, value in os.environ.items() if name.upper() not in faulty_variables
    }
    if host:
        environ["HOST"] = host
    for examine in (
        _examine_access,
        _examine_guidance,
        _examine_instructions,
        _examine_parsers,
        _examine_embedder,
    ):
        try:
            examine(environ)
        except UnusableSettings:
            continue  # among the faults already
        except ConfigurationError as error:
            all_faults.append(Fault("", str(error)))
    return list(dict.fromkeys(all_faults))


# Each imports what it examines by, and only where something is set: the process that supervises a
# stack holds none of it.


def _examine_access(environ: Mapping[str, str]) -> None:
    settings = settings_from(AccessSettings, environ)
    is_usual = settings.host == USUAL_ADDRESS.host
    if not is_usual or AccessSettings.__annotations__.keys() & settings.model_fields_set:
        from services.gateway.auth.config import auth_config  # noqa: PLC0415

        auth_config(settings)


def _examine_guidance(environ: Mapping[str, str]) -> None:
    settings = settings_from(ExtractorSettings, environ)
    if settings.entity_type_prompt_file:
        from services.extractor.wiring import extraction_config  # noqa: PLC0415

        extraction_config(settings)


def _examine_instructions(environ: Mapping[str, str]) -> None:
    _ = settings_from(QuerySettings, environ).prompt_prefix


def _examine_parsers(environ: Mapping[str, str]) -> None:
    settings_from(ParserSettings, environ).parsing_services()


def _examine_embedder(environ: Mapping[str, str]) -> None:
    from runtime.models.open import embedding_dimension  # noqa: PLC0415

    settings = settings_from(IndexerSettings, environ)
    if settings.has_embedding_endpoint:
        embedding_dimension(settings)

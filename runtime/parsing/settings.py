"""Settings of the services that read files, under LightRAG's names where it has them."""

import fnmatch
from pathlib import PurePosixPath

from pydantic import Field, SecretStr, field_validator

from contracts.chunking import Chunking
from runtime.errors import ConfigurationError
from runtime.parsing.engines import Engine, ServiceAddress
from runtime.parsing.recognition import RecognitionLimits
from runtime.parsing.routing import ParsingServices, Rule, parse_rules
from runtime.plugins.chunking import check_chunker
from runtime.plugins.installed import plugins
from runtime.settings import Settings
from runtime.variables import http_address


class ParserSettings(Settings):
    """Who reads which files, and whether they are kept. Without rules all are read by our own
    parsers.
    """

    keep_originals: bool = Field(
        default=False, description="keep the files that documents are read from, beside the log"
    )
    keep_figures: bool = Field(
        default=True, description="keep the pictures of files as figures of their documents"
    )

    lightrag_parser: str = Field(
        default="",
        description=(
            "who reads which files, as `pdf:docling; scans/*:mineru`; a pattern is of the suffix, "
            "or with a dot or slash of the name; empty: our own parsers"
        ),
    )
    docling_endpoint: str = Field(default="", description="Docling Serve, as http://docling:5001")
    docling_api_key: SecretStr = Field(default=SecretStr(""), description="what it wants")
    mineru_local_endpoint: str = Field(default="", description="MinerU, as http://mineru:8000")
    parser_timeout: float = Field(
        default=600.0, gt=0, description="seconds that a service may take for one file"
    )
    ocr_max_pages: int = Field(
        default=200, ge=0, description="pages of a file that are recognized at most; 0: none"
    )
    ocr_page_timeout: float = Field(
        default=300.0, gt=0, description="seconds that the recognition of one page may take"
    )

    _has_address = field_validator("docling_endpoint", "mineru_local_endpoint")(http_address)

    def parsing_services(self) -> ParsingServices:
        """Return the services and their rules. Raises ConfigurationError for rules of no use."""
        addresses: dict[Engine, ServiceAddress] = {}
        if self.docling_endpoint:
            key = self.docling_api_key.get_secret_value()
            addresses["docling"] = ServiceAddress(self.docling_endpoint, key)
        if self.mineru_local_endpoint:
            addresses["mineru"] = ServiceAddress(self.mineru_local_endpoint)
        rules = parse_rules(self.lightrag_parser)
        suffixes = frozenset(plugins("lightstream.parsers"))
        variables = {"docling": "DOCLING_ENDPOINT", "mineru": "MINERU_LOCAL_ENDPOINT"}
        for rule in rules:
            _check_chunking(rule)
            if rule.engine in variables and rule.engine not in addresses:
                raise ConfigurationError(
                    f"LIGHTRAG_PARSER has {rule.engine} read {rule.pattern!r}: set "
                    f"{variables[rule.engine]} to its address"
                )
            suffix = PurePosixPath(f"x.{rule.pattern}").suffix.removeprefix(".")
            if rule.engine == "plugin" and not fnmatch.filter(suffixes, suffix):
                raise ConfigurationError(
                    f"LIGHTRAG_PARSER has a plugin read {rule.pattern!r}, but plugins read "
                    f"{', '.join(sorted(suffixes)) or 'nothing'}: install the package that does"
                )
        recognition = RecognitionLimits(self.ocr_max_pages, self.ocr_page_timeout)
        return ParsingServices(
            rules,
            addresses,
            self.parser_timeout,
            suffixes,
            self.keep_figures,
            recognition,
        )


def _check_chunking(rule: Rule) -> None:
    try:
        check_chunker(rule.chunking or Chunking())
    except ValueError as error:
        raise ConfigurationError(f"LIGHTRAG_PARSER: {error}") from None

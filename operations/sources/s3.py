"""A bucket of S3, or of anything that speaks its protocol, as a source."""

import asyncio
import os
from collections.abc import Callable
from typing import Any, TypeVar
from urllib.parse import SplitResult

from operations.documents import LeftOutFile
from operations.sources.port import Listing, SourceFile, SourceItem, why_skipped
from runtime.errors import InvalidInput, Unavailable
from runtime.parsing.files import refuse_larger
from runtime.parsing.routing import OWN_PARSERS, ParsingServices

T = TypeVar("T")

TRIES = 4
"""Calls of one request before the bucket counts as silent."""


class S3Source:
    """All objects of a bucket whose keys begin with a prefix; an ETag is a version.

    Keys, region and endpoint come as AWS's own tools take them: AWS_ACCESS_KEY_ID, AWS_PROFILE,
    AWS_REGION, AWS_ENDPOINT_URL_S3 and their files.
    """

    lists_all = True
    versions_tell_content = True

    def __init__(self, address: SplitResult, services: ParsingServices = OWN_PARSERS) -> None:
        self._services = services
        self.bucket, self.prefix = address.netloc, address.path.lstrip("/")
        self.name = f"s3://{self.bucket}/{self.prefix}".rstrip("/")
        self._client = _client()

    async def list_items(self, cursor: str) -> Listing | None:
        """Return the objects; see the port."""
        return await asyncio.to_thread(self._list)

    def _list(self) -> Listing:
        listing = Listing()
        for page in self._call(self._pages):
            for entry in page.get("Contents", ()):
                key = entry["Key"]
                if reason := "empty" if not entry["Size"] else why_skipped(key, self._services):
                    listing.skipped_files += [] if key.endswith("/") else [LeftOutFile(key, reason)]
                    continue
                version = entry["ETag"].strip('"')
                url = f"s3://{self.bucket}/{key}"
                listing.items.append(SourceItem(key, f"{self.bucket}/{key}", version, url))
        return listing

    def _pages(self) -> list[dict[str, Any]]:
        pages = self._client.get_paginator("list_objects_v2")
        return list(pages.paginate(Bucket=self.bucket, Prefix=self.prefix))

    async def read(self, item: SourceItem) -> SourceFile:
        """Return an object; see the port."""
        return await asyncio.to_thread(self._call, self._read, item)

    def _read(self, item: SourceItem) -> SourceFile:
        answer = self._client.get_object(Bucket=self.bucket, Key=item.key)
        refuse_larger(answer["ContentLength"], item.name)
        return SourceFile(answer["Body"].read(), item.key)

    def _call(self, act: Callable[..., T], *arguments: Any) -> T:
        """Call the bucket, and say what is wrong in words of ours: without keys and signatures."""
        from botocore import exceptions  # noqa: PLC0415

        try:
            return act(*arguments)
        except exceptions.ClientError as error:
            response: dict[str, Any] = error.response
            status: int = response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
            code: str = response.get("Error", {}).get("Code", "an error")
            if status >= 500 or status == 429:
                raise Unavailable(f"s3://{self.bucket} answers {code}") from None
            raise InvalidInput(
                f"s3://{self.bucket} answers {code}: check the name, and AWS_ACCESS_KEY_ID, "
                "AWS_SECRET_ACCESS_KEY or AWS_PROFILE"
            ) from None
        except (exceptions.NoCredentialsError, exceptions.PartialCredentialsError):
            raise InvalidInput(
                "no keys for S3: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"
            ) from None
        except (exceptions.HTTPClientError, exceptions.ConnectionError) as error:
            raise Unavailable(
                f"s3://{self.bucket} does not answer ({type(error).__name__}): check "
                "AWS_ENDPOINT_URL_S3 and AWS_REGION"
            ) from None
        except exceptions.BotoCoreError as error:
            raise InvalidInput(f"s3://{self.bucket} cannot be asked: {error}") from None

    async def close(self) -> None:
        """Close the connections."""
        await asyncio.to_thread(self._client.close)


def _client() -> Any:
    from botocore.config import Config  # noqa: PLC0415
    from botocore.session import Session  # noqa: PLC0415

    session = Session()
    region = os.environ.get("AWS_REGION") or _configured_region(session) or "us-east-1"
    retries = {"total_max_attempts": TRIES, "mode": "standard"}
    return session.create_client("s3", region_name=region, config=Config(retries=retries))


def _configured_region(session: Any) -> str:
    return session.get_config_variable("region") or ""

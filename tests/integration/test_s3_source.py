"""A bucket of a real S3 server as a source."""

from pathlib import Path

import pytest

from operations.sources.open import open_source
from runtime.errors import InvalidInput, Unavailable
from tests.support.s3_server import s3_client, s3_server


async def test_a_bucket_lists_objects_with_a_version_and_says_why_it_cannot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with s3_server(tmp_path) as environment:
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        client = s3_client(environment)
        client.create_bucket(Bucket="port")
        for key in ("docs/a.md", "docs/b c.txt", "docs/x.gif", "docs/.hidden", "other.md"):
            client.put_object(Bucket="port", Key=key, Body=key.encode())
        source = open_source("s3://port/docs/")
        listing = await source.list_items("")
        assert listing
        items = {item.key: item for item in listing.items}
        assert items.keys() == {"docs/a.md", "docs/b c.txt"}
        assert {skipped.name for skipped in listing.skipped_files} == {"docs/x.gif", "docs/.hidden"}
        assert items["docs/a.md"].name == "port/docs/a.md"
        assert (await source.read(items["docs/b c.txt"])).data == b"docs/b c.txt"

        client.put_object(Bucket="port", Key="docs/a.md", Body=b"other")
        client.delete_object(Bucket="port", Key="docs/b c.txt")
        with pytest.raises(InvalidInput, match="NoSuchKey"):
            await source.read(items["docs/b c.txt"])
        listing = await source.list_items("")
        assert listing and [item.key for item in listing.items] == ["docs/a.md"]
        assert listing.items[0].version != items["docs/a.md"].version
        await source.close()

        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "a-wrong-secret")
        refusing_source = open_source("s3://port")
        with pytest.raises(InvalidInput, match="AWS_SECRET_ACCESS_KEY") as error:
            await refusing_source.list_items("")
        assert "a-wrong-secret" not in str(error.value)
        await refusing_source.close()
        client.close()
    silent = open_source("s3://port")
    with pytest.raises(Unavailable, match="does not answer"):
        await silent.list_items("")
    await silent.close()

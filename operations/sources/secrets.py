"""What a source is entered with: user and password from the environment, never from an address."""

import os
import re
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import SplitResult, parse_qsl, urlsplit

from runtime.errors import InvalidInput
from runtime.variables import FILE, file_content

USER = "SOURCE_USER"
PASSWORD = "SOURCE_PASSWORD"  # noqa: S105 # the name of a variable

_SECRET = re.compile(r"token|secret|passw|pwd|signature|credential|^(sig|auth|key|apikey|api_key)$")
"""Parameters of addresses that hold secrets, as their names say."""


class Credentials(NamedTuple):
    """User and password of a source; empty where there are none."""

    user: str
    password: str


def credentials(user: str = "", environ: Mapping[str, str] = os.environ) -> Credentials:
    """Return what SOURCE_USER and SOURCE_PASSWORD say, or the files that SOURCE_…_FILE name.

    A `user` of the address goes first. Raises ConfigurationError for a file that cannot be read.
    """
    found_user = user or environ.get(USER, "") or file_content(environ, f"{USER}{FILE}")
    password = environ.get(PASSWORD, "") or file_content(environ, f"{PASSWORD}{FILE}")
    return Credentials(found_user, password)


def split_address(address: str) -> SplitResult:
    """Return the parts of an address. Raises InvalidInput for one that holds a secret: it would
    stand in the log.
    """
    try:
        parts = urlsplit(address)
        password, _ = parts.password, parts.port
    except ValueError:
        raise InvalidInput("the address of the source cannot be read: check its port") from None
    names = [name for name, _ in parse_qsl(parts.query, keep_blank_values=True)]
    secret_names = [name for name in names if _SECRET.search(name.lower())]
    if password is not None or secret_names:
        part_name = f"the parameter {secret_names[0]}" if secret_names else "the password"
        raise InvalidInput(
            f"leave {part_name} out of the address, which stands in the log: put it into "
            f"{PASSWORD}, or a file into {PASSWORD}{FILE}"
        )
    return parts

"""Certificates of an authority of the test's own, made by the script that deployments have."""

import shutil
import subprocess
from pathlib import Path

from tests.support.servers import missing

SCRIPT = Path(__file__).resolve().parents[2] / "deploy" / "make-certificates"


def certificates(folder: Path) -> Path:
    """The folder with an authority, a certificate of a server on 127.0.0.1, and one of a client."""
    if shutil.which("openssl") is None:
        missing("certificates are made with openssl")
    subprocess.run([SCRIPT, folder, "nats", "127.0.0.1"], check=True, capture_output=True)
    return folder

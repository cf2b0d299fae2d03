"""The documentation at `/manual`: for everybody, and with nothing of other servers."""

import base64
import hashlib
import json
from dataclasses import replace
from pathlib import Path

from distribution.manual import script_digests
from services.gateway.manual import DIGESTS
from tests.support.access import client, with_accounts
from tests.support.querying import QueryHarness

SCRIPT = "start()"
PAGE = f'<script src="a.js"></script><script>{SCRIPT}</script><script type="application/json">{{}}'


async def test_it_is_read_without_credentials_and_runs_its_own_scripts_alone(
    tmp_path: Path,
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/index.html").write_text(f"{PAGE}</script>")
    (tmp_path / DIGESTS).write_text(json.dumps(script_digests(tmp_path)))
    app = QueryHarness().app(replace(with_accounts(), manual=tmp_path))
    async with client(app) as browser:
        assert (await browser.get("/manual")).headers["location"] == "/manual/"
        page = await browser.get("/manual/docs/")
        assert (page.status_code, SCRIPT in page.text) == (200, True)
        assert (await browser.get("/manual/nowhere/")).status_code == 404
        assert (await browser.get("/documents/status_counts")).status_code == 401
    digest = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    policy = page.headers["content-security-policy"]
    assert f"script-src 'self' 'sha256-{digest}';" in policy
    assert "http" not in policy


async def test_an_installation_without_it_says_how_to_have_it() -> None:
    async with client(QueryHarness().app(replace(with_accounts(), manual=None))) as browser:
        for path in ("/manual", "/manual/"):
            answer = await browser.get(path)
            assert (answer.status_code, "make site" in answer.text) == (404, True)

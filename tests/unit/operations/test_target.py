"""Which stack a command means: a data folder that was asked for, else what NATS_URL names, else the
default folder.
"""

from pathlib import Path

import pytest

from embedded.data_folder import NoStack
from operations.target import select_target
from runtime.errors import ConfigurationError


def test_without_variables_and_options_the_default_folder_is_meant(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NoStack, match=r"no stack is running in .*lightstream"):
        select_target(None)


def test_nats_url_names_a_deployment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NATS_URL", "nats://operator:pass-word@bus:4222")
    monkeypatch.setenv("DOCUMENTS_URL", "mongodb://documents")
    monkeypatch.setenv("LIGHTSTREAM_API_URL", "http://query:9621")
    result = select_target(None)
    assert result.settings.nats_url == "nats://operator:pass-word@bus:4222"
    assert result.settings.documents_url.get_secret_value() == "mongodb://documents"
    assert (result.api, result.folder) == ("http://query:9621", None)
    assert "pass-word" not in result.name + repr(result)
    with result.rebuild_lock():
        pass


@pytest.mark.parametrize("url", ["nats://u:secret@one:port", "nats://u:secret@:4222", ","])
def test_an_address_of_no_use_is_refused_without_its_password(
    monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setenv("NATS_URL", url)
    with pytest.raises(ConfigurationError, match="NATS_URL: must be nats://") as error:
        select_target(None)
    assert "secret" not in str(error.value)


def test_a_data_folder_that_is_asked_for_wins(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("NATS_URL", "nats://bus:4222")
    with pytest.raises(NoStack):
        select_target(tmp_path)


def test_an_empty_variable_names_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NATS_URL", "")
    with pytest.raises(NoStack):
        select_target(None)


def test_a_variable_of_no_use_is_named_without_its_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NATS_URL", "nats://bus:4222")
    monkeypatch.setenv("LLM_TIMEOUT", "a while")
    with pytest.raises(ConfigurationError, match="LLM_TIMEOUT") as error:
        select_target(None)
    assert "a while" not in str(error.value)

"""Documents in a language that the embedding model does not know: the page and the doctor say so,
and the workspace gets another model, is watched, and goes back.
"""

from collections.abc import Generator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.access import SECRET
from tests.support.own_page import PASSWORD, PATIENCE, USER, WRITER, Visits, built
from tests.support.stack import Stack, running

pytestmark = pytest.mark.nightly

GERMAN = {
    "handbuch.txt": "Die Waschmaschine steht im Keller neben der Heizung. "
    "Der Schlüssel zum Keller hängt am Brett neben der Haustür.",
    "garten.txt": "Der Garten wird von Frau Brandt gepflegt. "
    "Im Herbst werden die Rosen mit Laub bedeckt.",
}
HERE = ("--workspace", "handbuch")
WASHING = "Where is the washing machine?"
A_REBUILD = 10 * PATIENCE
"""Milliseconds that a change of the model may take on a busy machine."""


@pytest.fixture(scope="module")
def german_stack(tmp_path_factory: pytest.TempPathFactory) -> Generator[Stack]:
    """A stack with the default embedding model and German documents, of which a question in English
    has found nothing.
    """
    built()
    env = {
        "EMBEDDING_MODEL": "minilm",
        "AUTH_ACCOUNTS": f"{USER}:{PASSWORD}",
        "TOKEN_SECRET": SECRET,
        "LIGHTRAG_API_KEY": WRITER,
    }
    folder = tmp_path_factory.mktemp("embedding")
    (folder / "texts").mkdir()
    for name, text in GERMAN.items():
        (folder / "texts" / name).write_text(text, "utf-8")
    with running(folder / "data", **env) as stack:
        added = stack.run("add", str(folder / "texts"), "--wait", *HERE)
        assert added.returncode == 0, added.stderr
        yield stack


@pytest.fixture
def german_visits(browser: Browser, german_stack: Stack) -> Visits:
    return Visits(browser, german_stack.state.api)


def choose(page: Page, model: str) -> None:
    """Choose the model in the form, and have its estimate shown."""
    page.get_by_role("button", name="Model of this workspace").click()
    page.get_by_role("option", name=model, exact=True).click()
    page.get_by_role("button", name="Estimate", exact=True).click()
    expect(page.get_by_text(" cached.")).to_be_visible(timeout=A_REBUILD)


def test_the_doctor_names_the_language_and_the_command(german_stack: Stack) -> None:
    doctor = german_stack.run("doctor", *HERE)
    assert "are in German, which the embedding model minilm does not know" in doctor.stdout
    assert "lightstream embedding set multilingual --workspace handbuch" in doctor.stdout
    assert "German" not in german_stack.run("doctor").stdout


def test_a_workspace_gets_another_model_on_the_page(
    german_visits: Visits, german_stack: Stack
) -> None:
    with german_visits.to("handbuch/documents") as opened_page:
        page = opened_page.page
        expect(page.get_by_text("Most passages are in German")).to_be_visible()
        opened_page.assert_fits()
        page.get_by_role("link", name="Choose an embedding model for this workspace").click()
        form = page.get_by_role("region", name="Embedding model of workspace handbuch")
        expect(form.get_by_text("that of the whole stack").first).to_be_visible()
        change = form.get_by_role("button", name="Change the model")
        expect(change).to_be_disabled()
        choose(page, "multilingual")
        expect(form.get_by_text("No model is paid.")).to_be_visible()
        opened_page.assert_fits()
        change.click()
        embedded = form.get_by_text("The workspace is embedded by universal-")
        expect(embedded).to_be_visible(timeout=A_REBUILD)
        expect(form.get_by_text("chosen for this workspace: multilingual")).to_be_visible()
        page.get_by_role("link", name="Documents", exact=True).click()
        expect(page.get_by_role("link", name="garten.txt")).to_be_visible()
        expect(page.get_by_text("Most passages are in German")).to_have_count(0)
    assert german_stack.json("embedding", "show", *HERE)["chosen_model"] == "multilingual"


def test_what_golden_questions_keep_back_is_told_and_accepted(
    german_visits: Visits, german_stack: Stack
) -> None:
    german_stack.json("golden", "add", WASHING, "--fact", "Waschmaschine", *HERE)
    assert german_stack.run("golden", "run", *HERE).returncode == 0
    with german_visits.to("handbuch/operations?tab=models") as opened_page:
        page = opened_page.page
        form = page.get_by_role("region", name="Embedding model of workspace handbuch")
        choose(page, "that of the whole stack")
        form.get_by_role("button", name="Change the model").click()
        refused = form.get_by_text("answers became worse, and nothing was switched")
        expect(refused).to_be_visible(timeout=A_REBUILD)
        opened_page.assert_fits()
        form.get_by_role("button", name="Go live although golden questions fare worse").click()
        form.get_by_role("button", name="Change the model").click()
        embedded = form.get_by_text("The workspace is embedded by all-MiniLM-")
        expect(embedded).to_be_visible(timeout=A_REBUILD)
        page.get_by_role("link", name="Documents", exact=True).click()
        expect(page.get_by_text("Most passages are in German")).to_be_visible()
        page.get_by_role("button", name="Language").click()
        page.get_by_role("menuitemradio", name="中文").click()
        expect(page.get_by_text("大多数段落的语言是德语")).to_be_visible()
        opened_page.assert_fits()

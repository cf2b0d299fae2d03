"""LightRAG's web page in a browser, as a person uses it, and the folder that it comes from."""

from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import ConsoleMessage, Page, Response, expect

from tests.support.servers import missing

FOLDER = Path(__file__).resolve().parents[2] / ".venv/webui/lightrag/api/webui"
PATIENCE = 400_000
"""Milliseconds: graphics without a card take their time on a busy machine."""

expect.set_options(timeout=PATIENCE)


def folder() -> Path:
    """The folder of the page. Skips or fails where it is not."""
    if not (FOLDER / "index.html").is_file():
        missing("LightRAG's web page is not there: make webui")
    return FOLDER


ITS_OWN_TIMEOUT = "Failed to load UI customization: AbortError"
"""The page gives this one request 5 s, which a loaded machine may need, and asks again."""


@dataclass
class OpenedPage:
    """A page in the browser, and what went wrong in it."""

    page: Page
    faults: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        self.page.set_default_timeout(PATIENCE)
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("console", self._heard)
        self.page.on("response", self._answered)

    def _heard(self, said: ConsoleMessage) -> None:
        if said.type == "error" and not said.text.startswith(ITS_OWN_TIMEOUT):
            self.faults.append(said.text)

    def _answered(self, answer: Response) -> None:
        if answer.status >= 400:
            self.faults.append(f"{answer.status} {answer.url}")

    def log_in(self, user: str, password: str) -> None:
        self.page.fill("#username-input", user)
        self.page.fill("#password-input", password)
        self.page.get_by_role("button", name="Login").click()

    def tab(self, name: str) -> None:
        self.page.get_by_role("tab", name=name).click()

    def upload(self, file: Path) -> None:
        self.page.get_by_role("button", name="Upload").click()
        with self.page.expect_file_chooser() as chooser:
            self.page.get_by_text("Drag and drop files here").click()
        chooser.value.set_files(file)
        expect(self.page.get_by_text("Files uploaded successfully")).to_be_visible()
        self.page.keyboard.press("Escape")

    def ask(self, question: str) -> None:
        self.page.fill("#query-input", question)
        self.page.get_by_role("button", name="Send").click()

    def select(self, entity: str) -> None:
        """Find a node of the graph by its name and look at it."""
        self.page.get_by_placeholder("Search nodes in page...").fill(entity)
        self.page.get_by_role("option").filter(has_text=entity).first.click()

    def edit(self, name: str, value: str) -> None:
        """Change a property of the node that is selected."""
        self.page.locator(f"div:has(> span:text-is('{name}')) svg").first.click()
        dialog = self.page.get_by_role("dialog")
        dialog.locator("textarea").fill(value)
        dialog.get_by_role("button", name="Save").click()
        expect(dialog).to_be_hidden()

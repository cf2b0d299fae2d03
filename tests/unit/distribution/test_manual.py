"""What the documentation site is built from."""

from pathlib import Path

from distribution.manual import REPOSITORY, SETTINGS, lay_out


def test_pages_stand_in_their_places_with_all_they_lead_to(tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    tree = tmp_path / "tree"
    for folder in ("docs/examples", "tests", "other"):
        (repository / folder).mkdir(parents=True)
    (repository / "docs/page.md").write_text(
        "[a](examples/a.py) [tests](../tests/README.md#x) [web](https://example.org/x.py)"
    )
    (repository / "docs/examples/a.py").write_text("print()")
    (repository / "tests/README.md").write_text("[back](../docs/page.md)")
    (repository / "other/README.md").write_text("nobody leads here")
    lay_out(repository, tree)
    assert sorted(str(path.relative_to(tree)) for path in tree.rglob("*.*")) == [
        "docs/examples/a.py.txt",
        "docs/page.md",
        "tests/README.md",
    ]
    text = (tree / "docs/page.md").read_text()
    assert text.startswith("[a](examples/a.py.txt) [tests](../tests/README.md#x) [web](https://")


def test_every_page_of_the_documentation_is_in_its_menu() -> None:
    menu = SETTINGS.read_text("utf-8")
    pages = (page.relative_to(REPOSITORY) for page in (REPOSITORY / "docs").glob("*.md"))
    assert [str(page) for page in pages if f": {page}\n" not in menu] == []

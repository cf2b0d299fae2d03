"""`--help` sorts the commands by what they are for, and leaves lines to the terminal."""

from typing import Any

from typer.main import get_command

from cli.main import PANELS, app


def commands_of(group: Any) -> list[Any]:
    """Return the commands of a group, those of its groups too."""
    commands = list(getattr(group, "commands", {}).values())
    return commands + [inner for command in commands for inner in commands_of(command)]


def test_every_command_of_the_first_page_stands_in_a_panel() -> None:
    first_page: Any = get_command(app)
    panels = {command.rich_help_panel for command in first_page.commands.values()}
    assert panels == set(PANELS)


def test_no_paragraph_of_a_help_text_has_the_line_breaks_of_the_source() -> None:
    paragraphs = [
        paragraph
        for command in commands_of(get_command(app))
        for paragraph in (command.help or "").split("\n\n")
    ]
    assert len(paragraphs) > 100
    assert [paragraph for paragraph in paragraphs if "\n" in paragraph] == []

"""Help texts as a terminal of any width shows them well."""

import inspect

import typer


def reflow_help(app: typer.Typer) -> None:
    """Let the terminal break the lines of each command's help, of groups too, where they fit: those
    of the source are broken for an editor, and typer keeps them.
    """
    for command in app.registered_commands:
        text = command.help or inspect.getdoc(command.callback) or ""
        command.help = "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))
    for group in app.registered_groups:
        if group.typer_instance:
            reflow_help(group.typer_instance)

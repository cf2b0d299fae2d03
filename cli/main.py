"""All commands under one name."""

from collections.abc import Callable
from typing import Annotated

import typer

from cli import (
    access,
    aliases,
    ask,
    audit,
    backup,
    branch_changes,
    config,
    costs,
    deletion,
    demo,
    doctor,
    documents,
    embedding,
    erasure,
    failures,
    figures,
    golden,
    golden_run,
    importing,
    init,
    intake,
    log,
    mcp,
    operator,
    partition,
    past,
    projections,
    rebuild,
    receipts,
    region,
    repair,
    search,
    sources,
    stack,
    stores,
    tags,
    topology,
    validity,
    webhooks,
)
from cli.common import echo, errors
from cli.help_text import reflow_help
from cli.settings_file import EnvFile, read_settings_file
from runtime.bus.actor import acting_as, local_actor
from runtime.version import VERSION

app = typer.Typer(
    name="lightstream",
    help="Ask questions about your documents: LightRAG as an event log, on this machine.",
    epilog=(
        "A first try: lightstream up --detach; lightstream add README.md docs --wait; lightstream "
        "ask 'What is it?'"
    ),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def print_version(is_asked: bool) -> None:
    """Print the version and end, if it is asked for."""
    if is_asked:
        echo(f"lightstream {VERSION}")
        raise typer.Exit


@app.callback()
def act_as_user(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", callback=print_version, is_eager=True, help="Print the version."),
    ] = False,
    env_file: EnvFile = None,
) -> None:
    """Read the settings file, and publish what a command publishes in the name of who runs it."""
    # `init` makes the file anew: a key of the old one is not for another provider.
    if context.invoked_subcommand != "init":
        with errors(as_json=False):
            context.obj = read_settings_file(env_file)
    context.with_resource(acting_as(local_actor()))


Command = Callable[..., None]
Group = tuple[str, typer.Typer]

PANELS: dict[str, list[Command | Group]] = {
    "Start and stop": [demo.demo, init.init, stack.up, stack.down, doctor.doctor, config.config],
    "Documents": [
        documents.add,
        documents.status,
        tags.tag,
        failures.retry,
        deletion.delete,
        erasure.erase,
        ("access", access.app),
        ("validity", validity.app),
        ("figures", figures.app),
    ],
    "Sources": [
        sources.sync,
        sources.watch,
        ("sources", sources.app),
        intake.intake,
        ("import", importing.app),
    ],
    "Questions": [
        ask.ask,
        search.find,
        search.read,
        search.paths,
        ("golden", golden.app),
        ("receipts", receipts.app),
        mcp.mcp,
    ],
    "The graph and its past": [
        log.log,
        past.history,
        past.diff,
        past.undo,
        ("alias", aliases.app),
        ("branch", branch_changes.app),
    ],
    "Costs": [costs.cost, ("budget", costs.app)],
    "Rebuilds and backups": [
        rebuild.rebuild,
        ("embedding", embedding.app),
        ("projections", projections.app),
        projections.digest,
        backup.backup,
        backup.verify,
        backup.restore,
        repair.repair,
        audit.audit,
    ],
    "Operation": [
        operator.operator,
        ("dead", failures.app),
        ("webhooks", webhooks.app),
        ("topology", topology.app),
        ("partition", partition.app),
        ("stores", stores.app),
        ("region", region.app),
    ],
}
"""All commands by what they are for, in the order of `--help`; those with a name are groups."""

golden.app.command("run")(golden_run.run)
for panel, commands in PANELS.items():
    for command in commands:
        if callable(command):
            app.command(rich_help_panel=panel)(command)
        else:
            name, group = command
            app.add_typer(group, name=name, rich_help_panel=panel)
reflow_help(app)

"""All commands under one name."""

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
    topology,
    validity,
    webhooks,
)
from cli.common import echo, errors
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


app.command()(init.init)
app.command()(stack.up)
app.command()(stack.down)
app.command()(documents.add)
app.command()(sources.sync)
app.command()(sources.watch)
app.add_typer(sources.app, name="sources")
app.command()(intake.intake)
app.command()(deletion.delete)
app.command()(erasure.erase)
app.command()(ask.ask)
app.command()(search.find)
app.command()(search.read)
app.command()(search.paths)
app.command()(documents.status)
app.command()(documents.tag)
app.command()(log.log)
app.command()(past.history)
app.command()(past.diff)
app.command()(past.undo)
app.command()(costs.cost)
app.add_typer(costs.app, name="budget")
app.add_typer(figures.app, name="figures")
app.command()(failures.retry)
app.add_typer(failures.app, name="dead")
app.command()(mcp.mcp)
app.command()(projections.digest)
app.command()(audit.audit)
app.command()(backup.backup)
app.command()(backup.verify)
app.command()(backup.restore)
app.command()(rebuild.rebuild)
app.command()(repair.repair)
app.command()(operator.operator)
app.add_typer(projections.app, name="projections")
app.add_typer(aliases.app, name="alias")
app.add_typer(validity.app, name="validity")
golden.app.command("run")(golden_run.run)
app.add_typer(golden.app, name="golden")
app.add_typer(access.app, name="access")
app.add_typer(receipts.app, name="receipts")
app.add_typer(branch_changes.app, name="branch")
app.add_typer(importing.app, name="import")
app.add_typer(webhooks.app, name="webhooks")
app.add_typer(topology.app, name="topology")
app.add_typer(region.app, name="region")
app.add_typer(stores.app, name="stores")
app.command()(doctor.doctor)
app.command()(config.config)
app.command()(demo.demo)

"""What the options of `rebuild` mean together: combinations of no use are refused before anything
is done.
"""

from collections.abc import Sequence

from cli.common import WORKSPACE
from runtime.errors import InvalidInput


def workspaces_rebuilt(step: str, workspace: str) -> str:
    """Return what to say to somebody who names a workspace for a step that concerns all of them;
    else empty.
    """
    if workspace == WORKSPACE or step not in ("run", "start", "promote", "accept_loss"):
        return ""
    return (
        f"a generation is of all workspaces, so all are made anew, not {workspace} alone: "
        f"its digests are compared. `lightstream rebuild check --workspace {workspace}` makes it "
        "alone, beside the live one"
    )


def refuse_odd_options(
    step: str, projection: str, *, accept_loss: bool, is_fresh: bool, rollback: bool
) -> None:
    """Raises InvalidInput for an option that has no meaning with this step."""
    if accept_loss and (projection != "all" or step != "run"):
        raise InvalidInput(
            "a loss of the log concerns all projections: `lightstream rebuild all --accept-loss`"
        )
    if rollback and step != "rollback":
        raise InvalidInput(f"--rollback is a step of its own: give it without {step}")
    if is_fresh and step == "rollback":
        raise InvalidInput("--fresh leaves no generation to go back to: give it without --rollback")
    if is_fresh and step != "run":
        raise InvalidInput(
            f"--fresh empties the live store, which must be filled at once: give it without {step}"
        )


def refuse_odd_move(step: str, projection: str, *options: object) -> None:
    """Raises InvalidInput for what `--to` cannot do."""
    if (step, projection) != ("run", "all") or any(options):
        raise InvalidInput(
            "--to fills other stores as the present ones are: it is for `rebuild all` alone"
        )


def refuse_odd_model(projection: str, embedding_model: str, targets: Sequence[str]) -> None:
    """Raises InvalidInput for a model where no vectors are made."""
    if embedding_model and "vectors" not in targets:
        raise InvalidInput(f"--embedding-model says what makes vectors, and {projection} has none")


def refuse_odd_end(step: str, projection: str, to_seq: Sequence[int], to_time: str) -> None:
    """Raises InvalidInput where the step cannot stop before the end of the log."""
    if not (to_seq or to_time):
        return
    if to_seq and to_time:
        raise InvalidInput("give --to-seq or --to-time, not both")
    if step not in ("start", "check"):
        raise InvalidInput(
            "what ends before the log does cannot go live: `rebuild start --to-seq` fills it, "
            "`promote` reads the rest"
        )
    if projection == "vectors":
        raise InvalidInput(
            "vectors of entities are made from the graph of the same place in the log: give all"
        )

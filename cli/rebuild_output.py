"""What a rebuild shows: how far it is, and what it made."""

import math
import sys
from typing import Any

from cli.common import echo, note, rewrite, show

MAX_SHOWN = 20
"""Events of a newer version that are listed."""

BAR = 30
"""Characters of a progress bar."""


def ignore(_: dict[str, Any]) -> None:
    """Steps are for people."""


class Progress:
    """Shows each step with its rate and the time left: as a bar on a terminal, as a line anywhere
    else.
    """

    def __init__(self) -> None:
        # `--help` answers without it.
        from operations.pace import Pace  # noqa: PLC0415

        self._pace = Pace()

    def __call__(self, step: dict[str, Any]) -> None:
        estimate = step if "phase" in step else self._pace.of(step)
        if sys.stderr.isatty():
            rewrite(
                f"  {bar(estimate)}  {describe_step(estimate)}",
                is_finished="done" not in estimate
                or estimate["done"] >= estimate.get("total", math.inf),
            )
        else:
            note("  " + describe_step(estimate))


def describe_step(step: dict[str, Any]) -> str:
    """Return what a rebuild reported last, in a line, with its rate and the time left where they
    are known.
    """
    if "phase" not in step:
        return ", ".join(f"{name} {value}" for name, value in step.items()) or "just begun"
    line = f"{step['phase']} {step['done']}" + (f" of {step['total']}" if "total" in step else "")
    if "rate" in step:
        line += f", {step['rate']:.0f}/s"
    return line + (f", {step['seconds_left']:.0f} s left" if "seconds_left" in step else "")


def bar(step: dict[str, Any]) -> str:
    """Return a bar for a step whose end is known, else nothing."""
    if not step.get("total"):
        return ""
    filled_cells = min(BAR, BAR * step["done"] // step["total"])
    return f"[{'#' * filled_cells}{'.' * (BAR - filled_cells)}]"


def print_summary(result: dict[str, Any], state: str) -> None:
    """A line for each projection, then the figures."""
    digests: dict[str, Any] = result.pop("digests", {})
    generations: dict[str, int] = result.pop("generations", {})
    for name, generation in generations.items():
        comparison = digests.get(name)
        digest_line = (
            ""
            if comparison is None
            else "as before, "
            if comparison["same"]
            else "differs from what was live, "
        )
        sha256 = "" if comparison is None else f", digest {comparison['rebuilt']['sha256']}"
        echo(f"{name:<8} {digest_line}generation {generation} {state}{sha256}")
        if comparison and comparison.get("why"):
            echo(f"         ({comparison['why']})")
    result.pop("targets", None)
    comparison: dict[str, Any] | None = result.pop("compared", None)
    newer_events: list[dict[str, Any]] = result.pop("newer", [])
    show(result)
    if comparison:
        _print_comparison(comparison)
    if newer_events:
        echo(
            f"{'newer':<16} {len(newer_events)} events of a version newer than this code were "
            "left out:"
        )
        for event in newer_events[:MAX_SHOWN]:
            document = f"{event['workspace']}/{event['document']}"
            echo(f"  {event['sequence']:>7}  {event['type']} v{event['version']}  {document}")
        if len(newer_events) > MAX_SHOWN:
            echo(f"  … and {len(newer_events) - MAX_SHOWN} more; --json lists all")
        echo(
            "they are parked; services of the release that knows them handle them, no further "
            "rebuild is needed"
        )


def _print_comparison(comparison: dict[str, Any]) -> None:
    """For each question the overlap, what is no longer found (-), what only the new vectors find
    (+), both answers.
    """
    for question in comparison["questions"]:
        echo(f"{question['overlap']:<5.2f} {question['question']}")
        for sign, side, other_side in (("-", "live", "new"), ("+", "new", "live")):
            other_ids = {hit["id"] for hit in question[other_side]}
            for hit in question[side]:
                if hit["id"] not in other_ids:
                    echo(
                        f"      {sign} {hit['score']:.2f} {hit['file_path']}: {_line(hit['text'])}"
                    )
        if not question["answers"]["same"]:
            for sign, side in (("-", "live"), ("+", "new")):
                echo(f"      {sign} answer: {_line(question['answers'][side])}")
    echo(f"{comparison['same_answers']} of {len(comparison['questions'])} answers are the same")
    echo(
        f"{comparison['overlap']:<5.2f} overlap@{comparison['k']} of "
        f"{len(comparison['questions'])} questions"
    )


def _line(text: str) -> str:
    return " ".join(text.split())

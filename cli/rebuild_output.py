"""What a rebuild shows: how far it is, and what it made."""

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
        told = step if "phase" in step else self._pace.of(step)
        if sys.stderr.isatty():
            rewrite(
                f"  {bar(told)}  {describe_step(told)}",
                finished=told.get("done", 0) >= told.get("total", 0),
            )
        else:
            note("  " + describe_step(told))


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
    filled = min(BAR, BAR * step["done"] // step["total"])
    return f"[{'#' * filled}{'.' * (BAR - filled)}]"


def print_summary(result: dict[str, Any], state: str) -> None:
    """A line for each projection, then the figures."""
    digests: dict[str, Any] = result.pop("digests", {})
    generations: dict[str, int] = result.pop("generations", {})
    for name, generation in generations.items():
        compared = digests.get(name)
        what = (
            ""
            if compared is None
            else "as before, "
            if compared["same"]
            else "differs from what was live, "
        )
        sha256 = "" if compared is None else f", digest {compared['rebuilt']['sha256']}"
        echo(f"{name:<8} {what}generation {generation} {state}{sha256}")
        if compared and compared.get("why"):
            echo(f"         ({compared['why']})")
    result.pop("targets", None)
    compared: dict[str, Any] | None = result.pop("compared", None)
    newer: list[dict[str, Any]] = result.pop("newer", [])
    show(result)
    if compared:
        _print_comparison(compared)
    if newer:
        echo(f"{'newer':<16} {len(newer)} events of a version newer than this code were left out:")
        for event in newer[:MAX_SHOWN]:
            whose = f"{event['workspace']}/{event['document']}"
            echo(f"  {event['sequence']:>7}  {event['type']} v{event['version']}  {whose}")
        if len(newer) > MAX_SHOWN:
            echo(f"  … and {len(newer) - MAX_SHOWN} more; --json lists all")
        echo(
            "they are parked; services of the release that knows them handle them, no further "
            "rebuild is needed"
        )


def _print_comparison(compared: dict[str, Any]) -> None:
    """For each question the overlap, what is no longer found (-), what only the new vectors find
    (+), both answers.
    """
    for asked in compared["questions"]:
        echo(f"{asked['overlap']:<5.2f} {asked['question']}")
        for sign, side, other in (("-", "live", "new"), ("+", "new", "live")):
            known = {one["id"] for one in asked[other]}
            for one in asked[side]:
                if one["id"] not in known:
                    echo(
                        f"      {sign} {one['score']:.2f} {one['file_path']}: {_line(one['text'])}"
                    )
        if not asked["answers"]["same"]:
            for sign, side in (("-", "live"), ("+", "new")):
                echo(f"      {sign} answer: {_line(asked['answers'][side])}")
    echo(f"{compared['same_answers']} of {len(compared['questions'])} answers are the same")
    echo(
        f"{compared['overlap']:<5.2f} overlap@{compared['k']} of {len(compared['questions'])} "
        "questions"
    )


def _line(text: str) -> str:
    return " ".join(text.split())

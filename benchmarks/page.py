"""The web page in a headless Chromium: its first load, and frames a second over a graph of 5,000
entities.

    python -m benchmarks.page [--entities 5000] [--relations 20000] [--seconds 4]

The graph is given to the page in place of the server's answer; all else is a real stack. Beside the
frames stands the CPU of a frame: of the page (its scripts), and of the process that draws, which
without a graphics card is a CPU's work too. No other Chromium may run meanwhile.
"""

import argparse
import json
import re
import time
from itertools import pairwise
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from playwright.sync_api import Browser, Page

from tests.support.chromium import browsing
from tests.support.own_page import built
from tests.support.stack import running

TYPES = ("person", "organization", "location", "event", "concept", "artifact")
DRAWN_BY = """() => {
    const gl = document.createElement('canvas').getContext('webgl2');
    return gl.getParameter(gl.getExtension('WEBGL_debug_renderer_info').UNMASKED_RENDERER_WEBGL);
}"""
DRAGGED = """(milliseconds) => new Promise((done) => {
    const place = document.querySelector('canvas.sigma-mouse'), box = place.getBoundingClientRect();
    const tell = (type, x, y, to) => to.dispatchEvent(new MouseEvent(type, {
        bubbles: true, clientX: box.left + box.width / 2 + x, clientY: box.top + box.height / 2 + y, buttons: 1 }));
    const times = [];
    tell('mousedown', 0, 0, place);
    const frame = (now) => {
        times.push(now);
        const angle = (now - times[0]) / 700;
        tell('mousemove', 200 * Math.sin(angle), 120 * (1 - Math.cos(angle)), document.elementFromPoint(640, 400));
        if (now - times[0] < milliseconds) return requestAnimationFrame(frame);
        tell('mouseup', 0, 0, document); // reads what is under the pointer, and so waits for frames still to be drawn
        times.push(performance.now());
        done(times);
    };
    requestAnimationFrame(frame);
})"""
STILL = """(milliseconds) => new Promise((done) => {
    const times = [];
    const frame = (now) => {
        times.push(now);
        if (now - times[0] < milliseconds) requestAnimationFrame(frame);
        else done(times);
    };
    requestAnimationFrame(frame);
})"""


def graph(entities: int, relations: int) -> dict[str, Any]:
    """What `/graphs` answers: a few entities have very many relations, most have few."""
    dice = Random(1)
    names = [f"Entity {number}" for number in range(entities)]
    rest = {
        "source_id": "doc-1-chunk-000",
        "file_path": "one.md",
        "description": "Something is said.",
    }
    nodes = [
        {"id": name, "labels": [], "properties": {**rest, "entity_type": dice.choice(TYPES)}}
        for name in names
    ]
    pairs: set[tuple[int, int]] = set()
    while len(pairs) < relations:
        one = (
            int(dice.paretovariate(0.7)) % entities
            if dice.random() < 0.3
            else dice.randrange(entities)
        )
        other = dice.randrange(entities)
        if one != other:
            pairs.add((min(one, other), max(one, other)))
    edges = [
        {
            "id": f"{one}-{other}",
            "type": "",
            "source": names[one],
            "target": names[other],
            "properties": {**rest, "weight": 1 + one % 3, "keywords": "one"},
        }
        for one, other in sorted(pairs)
    ]
    return {"nodes": nodes, "edges": edges, "is_truncated": False}


def cpu() -> dict[str, float]:
    """Seconds of CPU so far of Chromium's processes on this machine, by their kind."""
    result: dict[str, float] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            # Chromium's processes write their arguments anew, with blanks between them.
            command = (folder / "cmdline").read_text().replace("\0", " ")
            ticks = (folder / "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if "chrom" not in Path(command.split(" ", 1)[0]).name:
            continue
        kind = found[1] if (found := re.search(r"--type=(\S+)", command)) else "browser"
        result[kind] = result.get(kind, 0.0) + (int(ticks[11]) + int(ticks[12])) / 100
    return result


def frames(page: Page, script: str, seconds: float) -> str:
    """Frames a second while the script runs, and CPU of a frame."""
    before = cpu()
    times: list[float] = page.evaluate(script, seconds * 1000)
    after = cpu()
    gaps = sorted(later - earlier for earlier, later in pairwise(times))
    spent = {
        kind: 1000 * (after[kind] - before.get(kind, 0.0)) / len(gaps)
        for kind in ("renderer", "gpu-process")
    }
    return (
        f"{1000 * len(gaps) / (times[-1] - times[0]):5.1f} frames/s, 95 % within "
        f"{gaps[int(len(gaps) * 0.95)]:.0f} ms; "
        f"CPU of a frame: page {spent['renderer']:.1f} ms, drawing {spent['gpu-process']:.1f} ms"
    )


def first_load(browser: Browser, api: str) -> str:
    """Time until the list of documents stands there, in a browser that has nothing cached."""
    page = browser.new_context().new_page()
    start = time.monotonic()
    page.goto(f"{api}/ui/")
    page.get_by_role("heading", name="Documents", exact=True).wait_for()
    seconds = time.monotonic() - start
    page.context.close()
    return (
        f"first load: {built().first_load / 1000:.0f} kB compressed, usable after {seconds:.2f} s"
    )


def measure(browser: Browser, api: str, given: argparse.Namespace) -> None:
    """Print what is measured."""
    print(first_load(browser, api), flush=True)
    page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
    body = json.dumps(graph(given.entities, given.relations))
    page.route(
        "**/graphs?*", lambda route: route.fulfill(body=body, content_type="application/json")
    )
    page.goto(f"{api}/ui/#/default/graph")
    page.get_by_role("status").filter(has_text=f"{given.relations:,} relations").wait_for()
    print(
        (
            f"{given.entities:,} entities, {given.relations:,} relations, drawn by "
            f"{page.evaluate(DRAWN_BY)}"
        ),
        flush=True,
    )
    print(f"while laid out: {frames(page, STILL, given.seconds)}", flush=True)
    page.wait_for_timeout(15_000)
    print(f"still:          {frames(page, STILL, given.seconds)}", flush=True)
    print(f"dragged:        {frames(page, DRAGGED, given.seconds)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--entities", type=int, default=5_000)
    parser.add_argument("--relations", type=int, default=20_000)
    parser.add_argument("--seconds", type=float, default=4.0)
    given = parser.parse_args()
    with (
        TemporaryDirectory() as folder,
        running(Path(folder) / "data") as stack,
        browsing() as browser,
    ):
        measure(browser, stack.state.api, given)


if __name__ == "__main__":
    main()

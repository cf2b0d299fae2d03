"""Ask the few tests that failed beside others once more, alone, and say so loudly: decision 47.

Usage: python -m tests.support.again FOLDER …, after a run that left `CACHE`. Its code is that of
pytest.
"""

import json
import subprocess
import sys
from pathlib import Path

CACHE = Path(".pytest_cache/beside-others")
"""`cache_dir` of the run before: its own, so that failures of other runs are not asked."""

MOST = 3
"""Files with failed tests. A server that does not answer for a while fails what asks it, tests of
two or three workers; more is a fault of ours or of the machine, which a second try would only hide.
"""


def failures(cache: Path) -> list[str]:
    """The tests that the run before ended with."""
    file = cache / "v/cache/lastfailed"
    return sorted(json.loads(file.read_text("utf-8"))) if file.exists() else []


def main(folders: list[str]) -> int:
    """Run them in one process with nothing beside it. 0 when all pass."""
    failed = failures(CACHE)
    files = {test.partition("::")[0] for test in failed}
    if not 0 < len(files) <= MOST:
        print(
            f"{len(failed)} tests of {len(files)} files failed; "
            f"those of up to {MOST} files are asked again, alone"
        )
        return 1
    print("\nAsked again, alone:", *failed, sep="\n  ", flush=True)
    again = ["--last-failed", "--last-failed-no-failures", "none", "-o", f"cache_dir={CACHE}"]
    code = subprocess.run(
        [sys.executable, "-m", "pytest", *again, *folders], check=False
    ).returncode
    still = failures(CACHE)
    if alone := [test for test in failed if test not in still]:
        print(
            "Failed beside others and passed alone, a fault of the test, to be mended:",
            *alone,
            sep="\n  ",
        )
    if still:
        print("Failed alone, too:", *still, sep="\n  ")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

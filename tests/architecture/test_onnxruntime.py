"""onnxruntime is imported in one place, which switches its reports to its maker off before."""

from tests.architecture.sources import REPOSITORY, imported, modules, parsed, shown

HOME = "offline/embeddings/onnx_sessions.py"


def test_onnxruntime_is_imported_in_one_place() -> None:
    paths = modules(
        *(path.name for path in REPOSITORY.iterdir() if path.is_dir() and path.name[0] != ".")
    )
    homes = {
        shown(path)
        for path in paths
        if "node_modules" not in path.parts and "onnxruntime" in imported(parsed(path))
    }
    assert homes == {HOME}


def test_it_is_silent_before_it_is_imported() -> None:
    source = (REPOSITORY / HOME).read_text("utf-8")
    assert source.index('os.environ["ORT_DISABLE_TELEMETRY"] = "1"') < source.index(
        "\nimport onnxruntime"
    )

"""onnxruntime is imported in one place, which switches its reports to its maker off before."""

from tests.architecture.sources import REPOSITORY, imported, of_the_project, parsed, shown

HOME = "offline/embeddings/onnx_sessions.py"


def test_onnxruntime_is_imported_in_one_place() -> None:
    paths = [path for path in of_the_project() if path.suffix == ".py"]
    paths = [path for path in paths if "onnxruntime" in path.read_text("utf-8")]
    homes = {shown(path) for path in paths if "onnxruntime" in imported(parsed(path))}
    assert homes == {HOME}


def test_it_is_silent_before_it_is_imported() -> None:
    source = (REPOSITORY / HOME).read_text("utf-8")
    assert source.index('os.environ["ORT_DISABLE_TELEMETRY"] = "1"') < source.index(
        "\nimport onnxruntime"
    )

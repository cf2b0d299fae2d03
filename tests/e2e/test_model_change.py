"""Another embedding model asks for a rebuild: until then nothing is mixed, nothing is lost, and the reason is named."""

from pathlib import Path

from tests.support.corpus import documents
from tests.support.stack import running, until


def test_a_changed_embedding_model_asks_for_a_rebuild_and_then_goes_on(tmp_path: Path) -> None:
    question = {"query": "Who met whom at the Customs House?", "mode": "naive"}
    with running(tmp_path / "data") as stack:
        stack.add(documents(5))
        stack.settled(5)
        stack.down()
        stack.env["EMBEDDING_MODEL"] = "minilm"
        stack.up()

        with stack.client() as client:
            refused = client.post("/query", json=question)
        assert refused.status_code == 503
        assert "lightstream rebuild vectors" in refused.json()["detail"]
        stack.add({"late.txt": "Ada Marlow left Graywick on the Kestrel."})
        until(lambda: stack.counts()["processing"] == 1, lambda: str(stack.counts()))

        done = stack.json("rebuild", "vectors")

        assert done["generations"] == {"vectors": 2}
        assert stack.settled(6)["processed"] == 6
        with stack.client() as client:
            answer = client.post("/query", json={"query": "On which ship did Ada Marlow leave?"})
        assert answer.status_code == 200
        assert "late.txt" in {reference["file_path"] for reference in answer.json()["references"]}

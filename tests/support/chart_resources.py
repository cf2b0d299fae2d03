"""The resources of a render of the Helm chart, by their kinds and names."""

from collections.abc import Iterator
from typing import Any

from tests.support import chart


def of_kind(case: str, *kinds: str) -> dict[str, dict[str, Any]]:
    return {
        resource["metadata"]["name"]: resource
        for resource in chart.resources(case)
        if resource["kind"] in kinds
    }


def pods(case: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each pod that a render asks for, by the name of what asks for it."""
    for name, resource in of_kind(case, "Deployment", "Job", "Pod").items():
        yield (
            name,
            resource["spec"] if resource["kind"] == "Pod" else resource["spec"]["template"]["spec"],
        )


def containers(pod: dict[str, Any]) -> list[dict[str, Any]]:
    return [*pod.get("initContainers", ()), *pod["containers"]]


def container(component: str, case: str = "everything") -> dict[str, Any]:
    result = of_kind(case, "Deployment")[f"kb-{component}"]
    return result["spec"]["template"]["spec"]["containers"][0]


def secrets(pod: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """The Secret and its key behind each file of secrets that a pod has."""
    (volume,) = [entry["projected"] for entry in pod["volumes"] if entry["name"] == "secrets"]
    assert volume["defaultMode"] == 0o440
    sources = [source["secret"] for source in volume["sources"]]
    return {
        item["path"]: (source["name"], item["key"])
        for source in sources
        for item in source["items"]
    }

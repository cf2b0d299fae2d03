"""How a data folder is told which region it follows: its log has as many partitions as there."""

from pathlib import Path

import pytest

from embedded.data_folder import DataFolder, StackState
from embedded.partitions import set_partitions
from embedded.region import region_address, set_region
from runtime.errors import InvalidInput

REFUSAL = "the log of the region first has 4 partitions, not 2"


def address(partitions: int) -> str:
    """What a stack whose log has so many partitions prints to be followed."""
    region = {"name": "first", "secret": "secret", "writer": ""}
    ports = {"api": 1234, "regions": 7422}
    return region_address(StackState(ports=ports, region=region, partitions=partitions))


def test_an_address_says_the_number_only_where_there_are_several() -> None:
    assert address(1).endswith("@127.0.0.1:7422/first?api=http://127.0.0.1:1234")
    assert address(4).endswith("&partitions=4")


@pytest.mark.parametrize("partitions", [1, 4])
def test_a_new_folder_takes_the_number_of_the_followed_region(
    tmp_path: Path, partitions: int
) -> None:
    folder = DataFolder.at(tmp_path)
    set_region(folder, "", address(partitions))
    set_partitions(folder, partitions)
    assert folder.read().partitions == partitions
    set_region(folder, "", address(partitions), partitions)


def test_another_number_is_refused_and_leaves_the_folder_as_it_was(tmp_path: Path) -> None:
    folder = DataFolder.at(tmp_path / "new")
    with pytest.raises(InvalidInput, match=REFUSAL):
        set_region(folder, "", address(4), 2)
    assert not folder.path.exists()
    set_region(folder, "", address(4))
    with pytest.raises(InvalidInput, match=REFUSAL):
        set_partitions(folder, 2)


def test_a_log_of_partitions_may_be_followed(tmp_path: Path) -> None:
    folder = DataFolder.at(tmp_path)
    set_partitions(folder, 4)
    set_region(folder, "first", "", 4)
    assert folder.read().region["name"] == "first"
    assert folder.read().partitions == 4

"""How many partitions the log of a stack has."""

from embedded.data_folder import DataFolder
from embedded.region import RegionLink, refuse_other_count
from runtime.errors import InvalidInput


def set_partitions(folder: DataFolder, count: int) -> None:
    """Have the first start make so many. Raises InvalidInput for a stack whose log has others."""
    state = folder.read()
    if state.partitions == count:
        return
    if (folder.path / "bus").is_dir():
        raise InvalidInput(
            f"the log of this stack was made with {state.partitions} partitions and keeps them: "
            f"choose a new data folder for {count}, and add the documents there again"
        )
    refuse_other_count(RegionLink.of(state), count)
    state.partitions = count
    folder.path.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder.write(state)

"""What can go wrong without a model: a file that came with the package was changed."""


class DamagedFile(Exception):
    """A file that the package brings has another content than it was published with."""

"""The version of this project, as pyproject.toml has it."""

VERSION = "0.1.0"

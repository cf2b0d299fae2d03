"""Files of vectors as older versions wrote them."""

import sqlite3

OLDER_TABLE = (
    "(workspace TEXT NOT NULL, id TEXT NOT NULL, slot INTEGER NOT NULL, text TEXT NOT NULL, "
    "text_hash TEXT NOT NULL, names TEXT NOT NULL, document_id TEXT NOT NULL, "
    "file_path TEXT NOT NULL, version INTEGER NOT NULL, position INTEGER NOT NULL, "
    "PRIMARY KEY (workspace, id))"
)
COLUMNS = "id, slot, text, text_hash, names, document_id, file_path, version, position"


def make_older(connection: sqlite3.Connection, format: int) -> str:
    """Bring the file to format 4, but for its blocks, and give it the number `format`. Returns the
    name of its last collection.
    """
    name = ""
    for (name,) in connection.execute("SELECT name FROM collections").fetchall():
        connection.execute(f"ALTER TABLE {name} RENAME TO newer")
        connection.execute(f"CREATE TABLE {name} {OLDER_TABLE}")
        connection.execute(
            f"INSERT INTO {name} (workspace, {COLUMNS}) SELECT spaces.name, {COLUMNS} "
            "FROM newer JOIN workspaces AS spaces ON spaces.number = newer.space"
        )
        for table in ("newer", f"{name}_keys", f"{name}_runs"):
            connection.execute(f"DROP TABLE {table}")
        connection.execute(f"CREATE UNIQUE INDEX {name}_slots ON {name} (workspace, slot)")
    connection.execute("DROP TABLE workspaces")
    connection.execute(f"PRAGMA user_version = {format}")
    return name

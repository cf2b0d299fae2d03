"""The tables of the graph in a SQLite file.

Partitions and entities have small numbers, in the order in which they came, and a relation is a
pair of such numbers, the lesser name first: so new rows stand on the last pages, and an index of
ends has a few bytes for each. A relation that is gone has no weight. Both indexes of ends have the
weight: how many relations an entity has, and which are the heaviest, is read from them alone.
Descriptions and lists are packed (`runtime/stores/packed_texts.py`).
"""

PARTITIONS = "graph_partitions"
ENTITIES = "graph_entities"
RELATIONS = "graph_relations"
CHECKPOINTS = "graph_checkpoints"
NAMES = f"{ENTITIES}_name"
SOURCES = f"{RELATIONS}_source"
TARGETS = f"{RELATIONS}_target"


def schema_statements() -> dict[str, str]:
    """Return, by the name of a table or an index, the statement that makes it where it is missing.

    What is short stands before the long texts: a row that is longer than a page has its beginning
    beside other rows, and the rest on pages of its own.
    """
    return {
        PARTITIONS: (
            f"CREATE TABLE IF NOT EXISTS {PARTITIONS} (id INTEGER PRIMARY KEY, "
            "workspace TEXT NOT NULL, generation INTEGER NOT NULL, UNIQUE (workspace, generation))"
        ),
        ENTITIES: (
            f"CREATE TABLE IF NOT EXISTS {ENTITIES} (id INTEGER PRIMARY KEY, "
            "partition_id INTEGER NOT NULL, gone INTEGER NOT NULL, name TEXT NOT NULL, "
            "revision INTEGER NOT NULL, support INTEGER NOT NULL, created_at INTEGER NOT NULL, "
            "type TEXT NOT NULL, description TEXT NOT NULL, file_paths TEXT NOT NULL, "
            "source_ids TEXT NOT NULL)"
        ),
        NAMES: f"CREATE UNIQUE INDEX IF NOT EXISTS {NAMES} ON {ENTITIES} (partition_id, name)",
        RELATIONS: (
            f"CREATE TABLE IF NOT EXISTS {RELATIONS} (id INTEGER PRIMARY KEY, "
            "source_id INTEGER NOT NULL, target_id INTEGER NOT NULL, weight REAL, "
            "revision INTEGER NOT NULL, support INTEGER NOT NULL, created_at INTEGER NOT NULL, "
            "keywords TEXT NOT NULL, description TEXT NOT NULL, file_paths TEXT NOT NULL, "
            "source_ids TEXT NOT NULL)"
        ),
        SOURCES: (
            f"CREATE INDEX IF NOT EXISTS {SOURCES} ON {RELATIONS} (source_id, target_id, weight)"
        ),
        TARGETS: (
            f"CREATE INDEX IF NOT EXISTS {TARGETS} ON {RELATIONS} (target_id, source_id, weight)"
        ),
        CHECKPOINTS: (
            f"CREATE TABLE IF NOT EXISTS {CHECKPOINTS} (generation INTEGER PRIMARY KEY, "
            "sequence INTEGER NOT NULL, log TEXT NOT NULL)"
        ),
    }

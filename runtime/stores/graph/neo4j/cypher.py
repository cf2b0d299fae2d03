"""The statements of the graph store, the same for Neo4j 5.26 and ArcadeDB 26.10.

An entity is a node `Ent`, unique by (workspace, generation, name). A relation is a `REL` from the
lesser name to the greater, unique between its ends. A write takes the lock of what it writes (`SET
….lock`) before it reads the stored revision: Neo4j reads what is committed, not what is locked, so
that a guard without the lock lets an older revision win. Keys are looked up by UNWIND and equality:
ArcadeDB answers IN by scanning the whole space.

Lists of chunks and files are kept as one string of JSON: a list of 200 strings takes ten times as
long to read, also where the statement asks for another property of the row. `head` has the first of
them, for readers of a neighbourhood.

What reads many rows collects them into one record, `found`: a record for each takes the driver two
to twenty times as long.

Entities and relations are lists of their values, in the order of `ENTITY` and `RELATION`: a map of
all properties takes twice as long to read.

`page` is a hash of the name, indexed. It makes scans linear on a store that has no ordered index
(ArcadeDB reads all of a space for each `name > $after`): they go page by page, by name within a
page.

Where a pattern joins two known nodes, ArcadeDB walks all relations of the node that is written
first. So the statement that writes relations exists twice, and the caller takes the one that begins
at the end with fewer relations.
"""

import zlib

PAGES = 1024

SCHEMA = {
    "ent_name": (
        "CREATE CONSTRAINT ent_name IF NOT EXISTS FOR (n:Ent) REQUIRE (n.workspace, "
        "n.generation, n.name) IS UNIQUE"
    ),
    "ent_page": (
        "CREATE INDEX ent_page IF NOT EXISTS FOR (n:Ent) ON (n.workspace, n.generation, n.page)"
    ),
    "checkpoint_generation": (
        "CREATE CONSTRAINT checkpoint_generation IF NOT EXISTS FOR (c:Checkpoint) REQUIRE "
        "c.generation IS UNIQUE"
    ),
}
"""What `prepare` runs, by the name of what it makes."""

ALIASES = {
    "Ent[workspace,generation,name]": "ent_name",
    "Ent[workspace,generation,page]": "ent_page",
    "Checkpoint[generation]": "checkpoint_generation",
}
"""ArcadeDB names an index after its properties."""

INDEXES = "SHOW INDEXES YIELD name RETURN name"

PING = "RETURN 1 AS one"

# `page` is set where the node is made: an index entry that begins as null is slow to mend on
# ArcadeDB. `lock` is set before the revision is read: it takes the write lock, without which two
# writers both see the older revision and the lower one may stand in the end (decision 11).
PUT_ENTITIES = """
UNWIND $rows AS row
MERGE (n:Ent {workspace: $workspace, generation: $generation, name: row.name})
ON CREATE SET n.page = row.page, n.revision = -1
SET n.lock = row.revision
WITH n, row WHERE n.revision < row.revision
SET n += row.values, n.revision = row.revision
"""

PUT_MISSING_ENDS = """
UNWIND $rows AS row
MERGE (n:Ent {workspace: $workspace, generation: $generation, name: row.name})
ON CREATE SET n.page = row.page, n.revision = 0, n.gone = true
"""

ENDS = """
UNWIND $names AS name
MATCH (n:Ent {workspace: $workspace, generation: $generation, name: name})
WITH name, COUNT { (n)-[:REL]-() } AS relations
RETURN collect([name, relations]) AS found
"""


def _put_relations(far: str, pattern: str) -> str:
    # By groups of one end, so that it is looked up once for all its relations.
    return f"""
UNWIND $groups AS near
MATCH (n:Ent {{workspace: $workspace, generation: $generation, name: near.name}})
UNWIND near.rows AS row
MATCH (m:Ent {{workspace: $workspace, generation: $generation, name: row.{far}}})
MERGE {pattern}
ON CREATE SET r.revision = -1
SET r.lock = row.revision
WITH r, row WHERE r.revision < row.revision
SET r += row.values, r.revision = row.revision
"""


PUT_RELATIONS_FROM_SOURCE = _put_relations("target", "(n)-[r:REL]->(m)")
PUT_RELATIONS_FROM_TARGET = _put_relations("source", "(n)<-[r:REL]-(m)")

ENTITY = (
    "[n.name, n.revision, n.type, n.description, n.source_ids, n.file_paths, n.support, "
    "n.created_at]"
)

RELATION = (
    "[r.source, r.target, r.revision, r.weight, r.keywords, r.description, r.source_ids, "
    "r.file_paths, r.support, r.created_at]"
)


def relations_between(record: str) -> tuple[str, str]:
    """Return the statements that read a `record` of each relation `r` of groups by source, and of
    groups by target.

    Neo4j then walks the relations that leave the source or those that reach the target, whichever
    are fewer, and reads properties of none but the right ones. ArcadeDB walks those of the group's
    own end.
    """
    return (
        _relations_between("target", "(n)-[r:REL]->(m)", record),
        _relations_between("source", "(n)<-[r:REL]-(m)", record),
    )


def _relations_between(far: str, pattern: str, record: str) -> str:
    return f"""
UNWIND $groups AS near
MATCH (n:Ent {{workspace: $workspace, generation: $generation, name: near.name}})
UNWIND near.rows AS row
MATCH (m:Ent {{workspace: $workspace, generation: $generation, name: row.{far}}})
MATCH {pattern} WHERE NOT r.gone
RETURN collect({record}) AS found
"""


RELATIONS = relations_between(RELATION)

ENTITIES = f"""
UNWIND $names AS name
MATCH (n:Ent {{workspace: $workspace, generation: $generation, name: name}})
WHERE NOT n.gone
RETURN collect({ENTITY}) AS found
"""

DEGREES = """
UNWIND $names AS name
MATCH (n:Ent {workspace: $workspace, generation: $generation, name: name})
WHERE NOT n.gone
WITH name, COUNT { (n)-[r:REL]-() WHERE NOT r.gone } AS degree
RETURN collect([name, degree]) AS found
"""

# A relation names its own ends, so that its neighbours need not be read.
TIES = """
UNWIND $names AS name
MATCH (n:Ent {workspace: $workspace, generation: $generation, name: name})
CALL (n) {
  MATCH (n)-[r:REL]-() WHERE NOT r.gone
  WITH r LIMIT $scanned
  RETURN r.source AS source, r.target AS target, r.weight AS weight ORDER BY weight DESC, source, target LIMIT $limit
}
WITH name, collect([source, target, weight]) AS ties
RETURN collect([name, ties]) AS found
"""

_NODE = "type: {0}.type, head: {0}.head, support: {0}.support"

NODES = """
UNWIND $names AS name
MATCH (n:Ent {workspace: $workspace, generation: $generation, name: name})
WHERE NOT n.gone
RETURN collect([n.name, n.type, n.head, n.support]) AS found
"""

CENTRES = f"""
UNWIND $names AS name
MATCH (n:Ent {{workspace: $workspace, generation: $generation, name: name}})
WHERE NOT n.gone
WITH n, COUNT {{ (n)-[r:REL]-() WHERE NOT r.gone }} AS degree
RETURN collect({{name: n.name, degree: degree, {_NODE.format("n")}}}) AS found
"""

TIED = f"""
UNWIND $names AS name
MATCH (n:Ent {{workspace: $workspace, generation: $generation, name: name}})
WHERE NOT n.gone
CALL (n) {{
  MATCH (n)-[r:REL]-(m) WHERE NOT r.gone AND NOT m.gone
  RETURN r, m, m.name AS other ORDER BY r.weight DESC, other LIMIT $limit
}}
RETURN collect({{
  name: name, other: other, weight: r.weight, keywords: r.keywords, tied_in: r.head, {_NODE.format("m")}
}}) AS found
"""

SCAN_NAMES = """
UNWIND range($page, $last_page) AS page
CALL (page) {
  MATCH (n:Ent {workspace: $workspace, generation: $generation, page: page})
  WHERE NOT n.gone AND (page > $page OR n.name > $after)
  RETURN n.name AS name, n.type AS type ORDER BY name LIMIT $limit
}
WITH name, type LIMIT $limit
RETURN collect([name, type]) AS found
"""

SCAN_ENTITIES = f"""
UNWIND range($page, $last_page) AS page
CALL (page) {{
  MATCH (n:Ent {{workspace: $workspace, generation: $generation, page: page}})
  WHERE NOT n.gone AND (page > $page OR n.name > $after)
  RETURN n ORDER BY n.name LIMIT $limit
}}
WITH n LIMIT $limit
RETURN collect({ENTITY}) AS found
"""

SCAN_RELATIONS = f"""
UNWIND range($page, $last_page) AS page
CALL (page) {{
  MATCH (a:Ent {{workspace: $workspace, generation: $generation, page: page}})
  WHERE page > $page OR a.name >= $source
  MATCH (a)-[r:REL]->(b)
  WHERE NOT r.gone AND (page > $page OR a.name > $source OR b.name > $target)
  WITH r, a.name AS source, b.name AS target
  RETURN r, source, target ORDER BY source, target LIMIT $limit
}}
WITH r LIMIT $limit
RETURN collect({RELATION}) AS found
"""

# In no order: with one, or a subquery for each page, either takes two to three times as long.
ENTITIES_OF_PAGES = f"""
UNWIND range($page, $last_page) AS page
MATCH (n:Ent {{workspace: $workspace, generation: $generation, page: page}})
WHERE NOT n.gone
RETURN collect({ENTITY}) AS found
"""

RELATIONS_OF_PAGES = f"""
UNWIND range($page, $last_page) AS page
MATCH (:Ent {{workspace: $workspace, generation: $generation, page: page}})-[r:REL]->()
WHERE NOT r.gone
RETURN collect({RELATION}) AS found
"""

HUBS = """
UNWIND range(0, $last_page) AS page
MATCH (n:Ent {workspace: $workspace, generation: $generation, page: page})
WHERE NOT n.gone
WITH n.name AS name, COUNT { (n)-[r:REL]-() WHERE NOT r.gone } AS degree
RETURN name, degree ORDER BY degree DESC, name LIMIT $limit
"""

# Relations first, so that no node is deleted together with many thousands of them.
DROP_RELATIONS = """
UNWIND range($page, $last_page) AS page
MATCH (:Ent {workspace: $workspace, generation: $generation, page: page})-[r:REL]->()
WITH page, r LIMIT $limit
DELETE r
RETURN count(*) AS deleted, max(page) AS page
"""

DROP_ENTITIES = """
UNWIND range($page, $last_page) AS page
MATCH (n:Ent {workspace: $workspace, generation: $generation, page: page})
WITH page, n LIMIT $limit
DETACH DELETE n
RETURN count(*) AS deleted, max(page) AS page
"""

SPACES = "MATCH (n:Ent) RETURN DISTINCT n.workspace AS workspace, n.generation AS generation"


def page_of(name: str) -> int:
    """Return the page of a name, 0 to PAGES - 1: CRC-32 of its UTF-8 bytes, by remainder."""
    return zlib.crc32(name.encode()) % PAGES

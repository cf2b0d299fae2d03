"""The SQL of the graph store on PostgreSQL: entities, relations and checkpoints in plain tables.

An entity's key is a hash of its name, because a key of an index has 2,700 bytes at most and a name
up to 6,000. Lists are JSON, in columns of text. A relation stands from the lesser name to the
greater; an index has its other end.
"""

from hashlib import sha256

from runtime.stores.graph.table_records import ENTITY_COLUMNS, NODE_COLUMNS, RELATION_COLUMNS

ENTITIES = "graph_entities"
RELATIONS = "graph_relations"
CHECKPOINTS = "graph_checkpoints"

HERE = "workspace = $1 AND generation = $2"

_TEXT = 'text COLLATE "C" NOT NULL'
_PLACE = f"workspace {_TEXT}, generation bigint NOT NULL"
_ENTITY = ("id", "gone", *ENTITY_COLUMNS)
_RELATION = ("source_id", "target_id", "gone", *RELATION_COLUMNS)
_TYPES = {
    **dict.fromkeys(("id", "source_id", "target_id"), "bytea"),
    **dict.fromkeys(("revision", "support", "created_at"), "bigint"),
    "gone": "boolean",
    "weight": "double precision",
}

# A name that is not of ASCII has more bytes than characters; what `stored_text` changes has U+0001.
_HAS_TEXT = (
    "(name ILIKE $5::text OR octet_length(name) <> char_length(name) "
    "OR position(chr(1) IN name) > 0)"
)

ENTITY_FIELDS = ", ".join(ENTITY_COLUMNS)
RELATION_FIELDS = ", ".join(RELATION_COLUMNS)
NODE_FIELDS = ", ".join(NODE_COLUMNS)


def id_of(name: str) -> bytes:
    """Return the key of an entity: 128 bits of the SHA-256 of its name."""
    return sha256(name.encode()).digest()[:16]


def schema_statements(schema: str) -> dict[str, str]:
    """Return, by the name of a table or an index, the statement that makes it."""
    return {
        ENTITIES: (
            f"CREATE TABLE {schema}.{ENTITIES} ({_PLACE}, {_declared(_ENTITY)}, "
            "PRIMARY KEY (workspace, generation, id))"
        ),
        RELATIONS: (
            f"CREATE TABLE {schema}.{RELATIONS} ({_PLACE}, {_declared(_RELATION)}, "
            "PRIMARY KEY (workspace, generation, source_id, target_id))"
        ),
        f"{RELATIONS}_target": (
            f"CREATE INDEX {RELATIONS}_target ON {schema}.{RELATIONS} "
            "(workspace, generation, target_id) WHERE NOT gone"
        ),
        CHECKPOINTS: (
            f"CREATE TABLE {schema}.{CHECKPOINTS} "
            f"(generation bigint PRIMARY KEY, sequence bigint NOT NULL, log {_TEXT})"
        ),
    }


def _declared(columns: tuple[str, ...]) -> str:
    return ", ".join(
        f"{column} {_TYPES[column]} NOT NULL" if column in _TYPES else f"{column} {_TEXT}"
        for column in columns
    )


def _put(schema: str, table: str, columns: tuple[str, ...], key: str) -> str:
    names = ", ".join(columns)
    arrays = ", ".join(
        f"${place}::{_TYPES.get(column, 'text')}[]" for place, column in enumerate(columns, start=3)
    )
    changes = ", ".join(f"{column} = excluded.{column}" for column in columns)
    return (
        f"INSERT INTO {schema}.{table} AS stored (workspace, generation, {names}) "  # noqa: S608
        f"SELECT $1, $2, {names} FROM unnest({arrays}) AS new_row ({names}) "
        f"ON CONFLICT (workspace, generation, {key}) DO UPDATE SET {changes} "
        "WHERE stored.revision < excluded.revision"
    )


class Statements:
    """The statements over the tables of one schema."""

    def __init__(self, schema: str) -> None:
        entities = f"{schema}.{ENTITIES}"
        relations = f"{schema}.{RELATIONS}"
        checkpoints = f"{schema}.{CHECKPOINTS}"
        self.put_entities = _put(schema, ENTITIES, _ENTITY, "id")
        self.put_relations = _put(schema, RELATIONS, _RELATION, "source_id, target_id")
        # Tombstones of revision 0, which every entity replaces.
        self.put_ends = _put(schema, ENTITIES, _ENTITY, "id").partition(" DO UPDATE ")[0] + (
            " DO NOTHING"
        )
        self.entities = (
            f"SELECT {ENTITY_FIELDS} FROM {entities} "  # noqa: S608
            f"WHERE {HERE} AND id = ANY($3::bytea[]) AND NOT gone"
        )
        self.relations = _of_pairs(relations, RELATION_FIELDS)
        self.entity_excerpts = (
            "SELECT name, revision, support, left(description, $4) AS description "  # noqa: S608
            f"FROM {entities} WHERE {HERE} AND id = ANY($3::bytea[]) AND NOT gone"
        )
        self.relation_excerpts = _of_pairs(
            relations, "source, target, revision, keywords, left(description, $5) AS description"
        )
        self.nodes = (
            f"SELECT {NODE_FIELDS} "  # noqa: S608
            f"FROM {entities} WHERE {HERE} AND id = ANY($3::bytea[]) AND NOT gone"
        )
        self.degrees = (
            f"SELECT {NODE_FIELDS}, {_degree(relations)} AS degree FROM {entities} e "  # noqa: S608
            f"WHERE {HERE} AND id = ANY($3::bytea[]) AND NOT gone"
        )
        self.ties = _ties(relations)
        self.neighbours = _neighbours(entities, relations)
        self.scan_names = _scan(entities, "name, type", f"id > $3 AND {_HAS_TEXT}", "id", "$4")
        self.scan_entities = _scan(entities, ENTITY_FIELDS, "id > $3", "id", "$4")
        self.scan_relations = _scan(
            *(relations, RELATION_FIELDS, "(source_id, target_id) > ($3, $4)"),
            *("source_id, target_id", "$5"),
        )
        self.hubs = _hubs(entities, relations)
        self.drop_relations = _drop(relations)
        self.drop_entities = _drop(entities)
        self.partitions = _partitions(entities)
        self.checkpoint = f"SELECT sequence, log FROM {checkpoints} WHERE generation = $1"  # noqa: S608
        self.put_checkpoint = (
            f"INSERT INTO {checkpoints} AS stored VALUES ($1, $2, $3) "  # noqa: S608
            "ON CONFLICT (generation) DO UPDATE SET sequence = excluded.sequence, "
            "log = excluded.log WHERE stored.sequence < excluded.sequence"
        )
        self.drop_checkpoint = f"DELETE FROM {checkpoints} WHERE generation = $1"  # noqa: S608


def _of_pairs(relations: str, fields: str) -> str:
    return (
        f"SELECT {fields} FROM unnest($3::bytea[], $4::bytea[]) AS pair (near, far) "  # noqa: S608
        f"JOIN {relations} ON {HERE} AND source_id = near AND target_id = far AND NOT gone"
    )


def _degree(relations: str) -> str:
    """Return the number of relations at the entity `e`; one with itself counts once."""
    of_entity = f"SELECT count(*) FROM {relations} r WHERE r.{HERE.replace('AND ', 'AND r.')}"  # noqa: S608
    return (
        f"(({of_entity} AND r.source_id = e.id AND NOT r.gone) + "
        f"({of_entity} AND r.target_id = e.id AND r.source_id <> e.id AND NOT r.gone))"
    )


def _at(relations: str, fields: str, entity: str, condition: str = "") -> str:
    """Return the query of all relations at an entity, whichever end it is."""
    return (
        f"SELECT {fields}, target_id AS other_id FROM {relations} "  # noqa: S608
        f"WHERE {HERE} AND source_id = {entity} AND NOT gone{condition} "
        f"UNION ALL SELECT {fields}, source_id FROM {relations} "
        f"WHERE {HERE} AND target_id = {entity} AND source_id <> {entity} AND NOT gone{condition}"
    )


def _ties(relations: str) -> str:
    scanned = f"{_at(relations, 'source, target, weight', 'near.id')} LIMIT $5"
    return (
        "SELECT near.place, tie.source, tie.target, tie.weight "  # noqa: S608
        "FROM unnest($3::bytea[]) WITH ORDINALITY AS near (id, place), LATERAL "
        f"(SELECT * FROM ({scanned}) scanned ORDER BY weight DESC, source, target LIMIT $4) tie"
    )


def _neighbours(entities: str, relations: str) -> str:
    fields = "source, target, weight, keywords, source_ids"
    return (
        "SELECT tie.source, tie.target, tie.weight, tie.keywords, tie.source_ids AS tied_in, "  # noqa: S608
        "tie.name, tie.type, tie.entity_source_ids AS source_ids, tie.support "
        "FROM unnest($3::bytea[]) AS near (id), LATERAL ("
        "SELECT r.*, e.name, e.type, e.source_ids AS entity_source_ids, e.support "
        f"FROM ({_at(relations, fields, 'near.id')}) r JOIN {entities} e "
        f"ON e.workspace = $1 AND e.generation = $2 AND e.id = r.other_id AND NOT e.gone "
        "ORDER BY r.weight DESC, r.source, r.target LIMIT $4) tie"
    )


def _scan(table: str, fields: str, after: str, order: str, limit: str) -> str:
    return (
        f"SELECT {fields} FROM {table} WHERE {HERE} AND {after} AND NOT gone "  # noqa: S608
        f"ORDER BY {order} LIMIT {limit}"
    )


def _hubs(entities: str, relations: str) -> str:
    ends = (
        f"SELECT source_id AS id FROM {relations} WHERE {HERE} AND NOT gone UNION ALL "  # noqa: S608
        f"SELECT target_id FROM {relations} "
        f"WHERE {HERE} AND NOT gone AND source_id <> target_id"
    )
    return (
        f"SELECT e.name FROM {entities} e LEFT JOIN "  # noqa: S608
        f"(SELECT id, count(*) AS degree FROM ({ends}) ends GROUP BY id) d ON d.id = e.id "
        f"WHERE {HERE} AND NOT gone ORDER BY coalesce(degree, 0) DESC, e.name LIMIT $3"
    )


def _drop(table: str) -> str:
    few_rows = f"SELECT ctid FROM {table} WHERE {HERE} LIMIT $3"  # noqa: S608
    return f"DELETE FROM {table} WHERE {HERE} AND ctid = ANY(ARRAY({few_rows}))"  # noqa: S608


def _partitions(entities: str) -> str:
    """Return the query of all partitions, found by leaps through the primary key."""
    of_table = f"SELECT workspace, generation FROM {entities}"  # noqa: S608
    first = "ORDER BY workspace, generation LIMIT 1"
    return (
        f"WITH RECURSIVE spaces AS (({of_table} {first}) UNION ALL SELECT beyond.* FROM spaces, "  # noqa: S608
        f"LATERAL ({of_table} WHERE (workspace, generation) > (spaces.workspace, "
        f"spaces.generation) {first}) beyond) SELECT workspace, generation FROM spaces"
    )

"""The SQL of the vector store on PostgreSQL: a table for each collection, with pgvector's types.

Names of tables are made by `collection_names`, that of the extension's schema comes from the
catalog; every value is a parameter. Operators and types are written with their schema, which is not
ours.
"""

from dataclasses import dataclass

PLAIN_DIMENSIONS = 1800
"""Dimensions up to which a vector stands in its row: a page has 8 KB. A longer one is read from
elsewhere.
"""

INDEXED_DIMENSIONS = 4000
"""The most that an index of half precision takes."""

COLUMNS = {
    "id": "text",
    "text": "text",
    "text_hash": "text",
    "names": "text",
    "document_id": "text",
    "file_path": "text",
    "version": "bigint",
    "position": "bigint",
}
"""The columns of a row with their types, beside its workspace and its vector."""

_TEXT = 'text COLLATE "C"'
VERSION = "id, version, text_hash"
_ROW = ", ".join(COLUMNS)


@dataclass(frozen=True)
class VectorTable:
    """One collection's table: its name, the schemas of our tables and of the extension."""

    name: str
    schema: str
    extension: str
    dimension: int

    @property
    def place(self) -> str:
        """Return the table with its schema."""
        return f"{self.schema}.{self.name}"

    @property
    def index(self) -> str:
        """Return the name of its index of vectors."""
        return f"{self.name}_hnsw"

    def make(self, model: str) -> str:
        """Return the statements that make the table, which names its model."""
        columns = ", ".join(
            f"{name} {_TEXT if type_ == 'text' else type_} NOT NULL"
            for name, type_ in COLUMNS.items()
        )
        quoted = model.replace("'", "''")
        plain = (
            f"; ALTER TABLE {self.place} ALTER COLUMN vector SET STORAGE PLAIN"
            if self.dimension <= PLAIN_DIMENSIONS
            else ""
        )
        return (
            f"CREATE TABLE {self.place} (workspace {_TEXT} NOT NULL, {columns}, "
            f"vector {self.extension}.vector({self.dimension}) NOT NULL, "
            f"PRIMARY KEY (workspace, id)); COMMENT ON TABLE {self.place} IS '{quoted}'{plain}"
        )

    def put(self, guard: str = "") -> str:
        """Return the statement that writes rows, given by column, with their numbers in one
        list.
        """
        arrays = ", ".join(
            f"${place}::{type_}[]" for place, type_ in enumerate(COLUMNS.values(), start=2)
        )
        numbers = f"${len(COLUMNS) + 2}::real[]"
        vector = (
            f"({numbers})[(place - 1) * {self.dimension} + 1 : place * {self.dimension}]"
            f"::{self.extension}.vector"
        )
        changes = ", ".join(f"{name} = excluded.{name}" for name in (*COLUMNS, "vector"))
        return (
            f"INSERT INTO {self.place} AS stored (workspace, {_ROW}, vector) "  # noqa: S608
            f"SELECT $1, {_ROW}, {vector} "
            f"FROM unnest({arrays}) WITH ORDINALITY AS new_row ({_ROW}, place) "
            f"ON CONFLICT (workspace, id) DO UPDATE SET {changes}{guard}"
        )

    def rows(self) -> str:
        """Return the query of rows by their ids."""
        return f"{self._rows()} AND id = ANY($2::text[])"

    def rows_with_vectors(self) -> str:
        """Return the query of rows by their ids, with their vectors."""
        return f"{self._rows(vectors=True)} AND id = ANY($2::text[])"

    def versions(self) -> str:
        """Return the query of what tells whether rows are up to date."""
        return f"SELECT {VERSION} FROM {self.place} WHERE workspace = $1 AND id = ANY($2::text[])"  # noqa: S608

    def scan(self, *, vectors: bool) -> str:
        """Return the query of one page, by id."""
        return f"{self._rows(vectors=vectors)} AND id > $2 ORDER BY id LIMIT $3"

    def delete(self, condition: str = "") -> str:
        """Return the statement that deletes rows by their ids."""
        return f"DELETE FROM {self.place} WHERE workspace = $1 AND id = ANY($2::text[]){condition}"  # noqa: S608

    def count(self) -> str:
        """Return the query of the number of rows."""
        return f"SELECT count(*) AS number FROM {self.place} WHERE workspace = $1"  # noqa: S608

    def count_to(self) -> str:
        """Return the query of the number of rows, which ends at so many."""
        few_rows = f"SELECT 1 FROM {self.place} WHERE workspace = $1 LIMIT $2"  # noqa: S608
        return f"SELECT count(*) AS number FROM ({few_rows}) few_rows"  # noqa: S608

    def likeness(self) -> str:
        """Return the query of how near rows are, by their ids."""
        return (
            f"{self._direction(2)} SELECT id, {self._score} AS score FROM {self.place} "  # noqa: S608
            "WHERE workspace = $1 AND id = ANY($3::text[])"
        )

    def nearest(self) -> str:
        """Return the query that compares with every row of a workspace."""
        return self._best(f"FROM {self.place} WHERE workspace = $1")

    def nearest_among(self) -> str:
        """Return the query that compares with the rows whose ids are in some ranges."""
        return self._best(
            f"FROM unnest($4::text[], $5::text[]) AS range (low, high) JOIN {self.place} "
            "ON workspace = $1 AND id > low AND id < high"
        )

    def nearest_by_index(self) -> str:
        """Return the query that looks into the index for so many rows, and orders them exactly."""
        half = f"{self.extension}.halfvec({self.dimension})"
        question = f"(SELECT direction::{half} FROM question)"  # noqa: S608
        distance = f"(vector::{half}) OPERATOR({self.extension}.<=>) {question}"
        candidates = f"FROM {self.place} WHERE workspace = $1 ORDER BY {distance} LIMIT $4"
        return self._best(candidates)

    def make_index(self) -> str:
        """Return the statement that makes the index while others write."""
        half = f"vector::{self.extension}.halfvec({self.dimension})"
        return (
            f"CREATE INDEX CONCURRENTLY {self.index} ON {self.place} "
            f"USING hnsw (({half}) {self.extension}.halfvec_cosine_ops)"
        )

    @property
    def _score(self) -> str:
        # A vector of noughts has no direction: the distance is NaN.
        distance = f"(vector OPERATOR({self.extension}.<=>) (SELECT direction FROM question))"  # noqa: S608
        return f"coalesce(nullif(1 - {distance}, 'NaN'), 0)"

    def _direction(self, place: int) -> str:
        """Return what makes the question a vector once, not once a row."""
        return (
            "WITH question AS MATERIALIZED "
            f"(SELECT ${place}::real[]::{self.extension}.vector AS direction)"
        )

    def _best(self, rows: str) -> str:
        """Return the query of the best of these rows; equal ones by id."""
        return (
            f"{self._direction(2)} SELECT id, names, score "  # noqa: S608
            f"FROM (SELECT id, names, {self._score} AS score {rows}) scored "
            "ORDER BY round(score::numeric, 6) DESC, id LIMIT $3"
        )

    def _rows(self, *, vectors: bool = False) -> str:
        numbers = f", {self.extension}.vector_send(vector) AS numbers" if vectors else ""
        return f"SELECT {_ROW}{numbers} FROM {self.place} WHERE workspace = $1"  # noqa: S608

"""What logical decoding says of a table: the keys of rows that changed, in PostgreSQL's own form
`pgoutput`.
"""

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from runtime.errors import InvalidInput


class Reader:
    """Reads one message of `pgoutput`, version 1, from its beginning."""

    def __init__(self, message: bytes) -> None:
        self._message = message
        self._place = 0

    def number(self, form: str) -> int:
        """Return the next number; `form` is its letter in `struct`."""
        (value,) = struct.unpack_from(f">{form}", self._message, self._place)
        self._place += struct.calcsize(form)
        return value

    def kind(self) -> str:
        """Return the next letter, which says what follows; empty at the end."""
        letter = self._message[self._place : self._place + 1].decode("ascii")
        self._place += 1
        return letter

    def text(self) -> str:
        """Return the next text, which ends with a zero."""
        end = self._message.index(b"\0", self._place)
        data = self._message[self._place : end]
        self._place = end + 1
        return data.decode()

    def row(self) -> list[str | None]:
        """Return the texts of a row; None for a null, and for a long value that did not change."""
        values: list[str | None] = []
        for _ in range(self.number("H")):
            if self.kind() == "t":
                size = self.number("I")
                data = self._message[self._place : self._place + size]
                self._place += size
                values.append(data.decode())
            else:
                values.append(None)
        return values


@dataclass
class ChangedRows:
    """The keys that changes name, of one table, in the order of its key's columns."""

    schema: str
    table: str
    columns: Sequence[str]
    keys: dict[tuple[str, ...], None] = field(default_factory=dict[tuple[str, ...], None])
    is_emptied: bool = False
    """Whether the table was truncated: then all of it is to be compared."""
    end: int = 0
    """Where the last transaction ends in the server's log."""
    _places: dict[int, list[int]] = field(default_factory=dict[int, list[int]])
    """Where the key's columns are in rows of a relation, by its number: this table's alone."""

    def apply(self, message: bytes) -> None:
        """Take one message into account. Raises InvalidInput for a table without that key."""
        reader = Reader(message)
        kind = reader.kind()
        if kind == "C":
            reader.number("B")
            reader.number("Q")
            self.end = reader.number("Q")
        elif kind == "R":
            self._describe(reader)
        elif kind == "T":
            count = reader.number("I")
            reader.number("B")
            relations = [reader.number("I") for _ in range(count)]
            self.is_emptied = self.is_emptied or any(id in self._places for id in relations)
        elif kind in ("I", "U", "D"):
            places = self._places.get(reader.number("I"))
            for row in _rows(reader) if places else ():
                self._note([row[place] for place in places or ()])

    def _describe(self, reader: Reader) -> None:
        id = reader.number("I")
        is_ours = (reader.text(), reader.text()) == (self.schema, self.table)
        reader.number("B")
        names: list[str] = []
        for _ in range(reader.number("H")):
            reader.number("B")
            names.append(reader.text())
            reader.number("I")
            reader.number("i")
        self._places.pop(id, None)
        if is_ours:
            if missing_columns := set(self.columns).difference(names):
                raise InvalidInput(f"the table has no column {min(missing_columns)} any more")
            self._places[id] = [names.index(column) for column in self.columns]

    def _note(self, values: Sequence[str | None]) -> None:
        key = tuple(value for value in values if value is not None)
        if len(key) == len(self.columns):
            self.keys[key] = None


def _rows(reader: Reader) -> Iterator[list[str | None]]:
    """Yield the rows of a change: as it was, where that is there, and as it is."""
    while reader.kind():
        yield reader.row()

"""What a table is about, by the headings and the caption above it: rows of the same name in tables
about different things say nothing about each other.

Documents of one kind (invoices, product sheets, pages about towns) have tables with the same rows.
So where it is open whether two tables are about the same, they are not.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePath

from offline.answers.quotable_sentences import Quotable
from offline.answers.relevance import terms
from offline.language.languages import language_of

ENOUGH = 3
"""Words of a caption that say by themselves what a table is about."""

_NUMBERING = re.compile(
    r"^(?:(?:table|tab\.?|tabelle|tableau|tabla|tabella|таблица|табл\.|表)\s*[\w.]{0,4}\d+[.:)]*\s*"
    r"|(?:\d+\.)+\d*\s+|\d+\)\s+|(?:article|section|chapter|artikel|abschnitt|kapitel|§)\s*[\d.]+\s*)"
    r"|,? ?rows \d+ to \d+:?$",
    re.IGNORECASE,
)
"""What is counted in a document: tables, sections, rows."""
_NUMBER = re.compile(r"\d+")
_ENUMERATED = re.compile(r"\b(?:[ivx]{1,4}|[a-h])\b(?=\s*[.):]|$)", re.IGNORECASE)
_SPLIT = re.compile(r"[_\W]+")

_DOCUMENT_KINDS = frozenset(
    terms(
        "annex appendix book bulletin catalogue data document draft export file guide handbook"
        " list manual notes notice overview page policy protocol readme register regulation report"
        " rule scan sheet summary table tariff text version"
    )
    | terms(
        "Anhang Bericht Blatt Datei Dokument Entwurf Handbuch Heft Liste Ordnung Protokoll Register"
        " Richtlinie Satzung Seite Tabelle Übersicht Verzeichnis",
        "de",
    )
    | terms("annexe document feuille liste manuel page rapport registre règlement tableau", "fr")
    | terms("anexo documento hoja informe lista manual página registro reglamento tabla", "es")
)
"""What documents and tables are, whatever they are about."""

_ROWS_OF_ANY_TABLE = re.compile(
    r"(?:(?:grand|sub|net|gross)[\s-]*)?totals?\b|sub-?totals?\b|sums?\b|averages?\b|means?\b|median\b"
    r"|balance\b|others?\b|remainder\b|rest\b|all\b|overall\b|count\b|minimum\b|maximum\b|min\b|max\b"
    r"|(?:zwischen|gesamt|end)?-?summe|gesamt|insgesamt|durchschnitt|mittelwert|saldo|sonstige|übrige"
    r"|total\b|somme|moyenne|solde|autres?\b|suma\b|promedio|media\b|saldo|otros|итого|всего|сумма"
    r"|среднее|прочее|合计|总计|小计|平均|其他",
    re.IGNORECASE,
)
_PROPERTY_COLUMN = re.compile(
    r"(?:attributes?|details?|features?|field|key|parameters?|propert(?:y|ies)|specifications?|values?"
    r"|options?|settings?|arguments?|defaults?"
    r"|eigenschaft(?:en)?|merkmale?|feld|werte?|angaben?|kennzahl(?:en)?|caractéristiques?|propriétés?"
    r"|champ|valeurs?|características?|propiedad(?:es)?|campo|valor(?:es)?|свойств[оа]|параметры?|поле"
    r"|значени[ея]|показател[ьи]|参数|属性|项目|值)?",
    re.IGNORECASE,
)
"""Names of columns that say nothing of what is in them."""


@dataclass(frozen=True, slots=True)
class TableSubject:
    """What a table is about, in stems of words."""

    nearest: frozenset[str]
    """Of the caption, else of the heading right above."""
    outer: frozenset[str]
    """Of the other headings, or of the document's name where there are none."""
    numbers: frozenset[str]
    """What tells documents and tables of one kind apart: years, numbers of invoices, quarters."""

    def may_be(self, second: "TableSubject", *, is_told_by_subject: bool) -> bool:
        """Return whether both may be the same. Where rows are told apart by the table alone,
        nothing may be left open.
        """
        if self.numbers != second.numbers:
            return False
        if is_told_by_subject:
            words = self.nearest | self.outer
            return bool(words) and words == second.nearest | second.outer
        if self.nearest and second.nearest:
            speaks_for_itself = len(self.nearest) >= ENOUGH
            return self.nearest == second.nearest and (speaks_for_itself or self._fits(second))
        return self._fits(second)

    def _fits(self, second: "TableSubject") -> bool:
        words = self.nearest | self.outer
        other_words = second.nearest | second.outer
        if self.nearest and second.nearest:
            words, other_words = self.outer, second.outer
        return not words or not other_words or words == other_words


@lru_cache(maxsize=1 << 12)
def table_subject(part: Quotable, file_path: str = "") -> TableSubject:
    """Return what the table of a row, or the section of another part, is about. The name of the
    document's file counts where no heading does.
    """
    path = [heading for heading in part.path if _words(heading)]
    above = [*path, part.caption] if _words(part.caption) else path
    name = PurePath(file_path).stem if not part.path else ""
    *outer, nearest = above or [""]
    nearest_words = _words(nearest)
    outer_words = frozenset(word for text in (*outer, name) for word in _words(text))
    texts = (*part.path, part.caption, name)
    numbers = frozenset(number for text in texts for number in _numbers(text))
    return TableSubject(nearest_words, outer_words - nearest_words, numbers)


def is_told_by_subject(part: Quotable) -> bool:
    """Return whether a row has a name that rows of any table have (`Total`), or is the property of
    a thing that the table's caption, or the document, names.
    """
    (column, name), *other_cells = part.cells
    if _ROWS_OF_ANY_TABLE.match(name.strip("*_ ")) or not terms(name, language_of(name)):
        return True
    columns = [column.strip("*_ :") for column in (column, *(name for name, _ in other_cells))]
    return len(other_cells) < 2 and all(map(_PROPERTY_COLUMN.fullmatch, columns))


def _words(text: str) -> frozenset[str]:
    """Return the stems of what a heading names, without what documents and tables are."""
    text = " ".join(_SPLIT.split(_NUMBERING.sub(" ", text)))
    words = terms(text, language_of(text))
    return frozenset(word for word in words if not _NUMBER.search(word)) - _DOCUMENT_KINDS


def _numbers(text: str) -> Iterator[str]:
    text = _NUMBERING.sub(" ", text)
    yield from (number.lstrip("0") or "0" for number in _NUMBER.findall(text))
    yield from (numeral.casefold() for numeral in _ENUMERATED.findall(text))

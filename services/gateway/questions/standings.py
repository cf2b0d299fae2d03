"""What an answer says of its sources that are not in force, and of those that others outweigh."""

from pydantic import AwareDatetime, BaseModel, Field

from services.query.retrieval.results import RetrievalResult
from services.query.standing import Precedence, Standing, Statement


class SuccessorEntry(BaseModel):
    """A document that supersedes the source."""

    document_id: str
    file_path: str
    reference_id: str = Field(description="empty where no passage of it is among the sources")
    since: AwareDatetime


class OutdatedSource(BaseModel):
    """A document among the sources that is not in force at the moment that is asked about."""

    document_id: str
    file_path: str
    reference_id: str
    superseded_by: list[SuccessorEntry] = Field(description="the newest first")
    valid_from: AwareDatetime | None = Field(description="when it will be in force")
    valid_until: AwareDatetime | None = Field(description="when it ceased to be in force")

    @classmethod
    def of(cls, standing: Standing, references: dict[str, str]) -> "OutdatedSource":
        """Return the source with the ids under which the answer cites it and its successors."""
        return cls(
            document_id=standing.document_id,
            file_path=standing.file_path,
            reference_id=references.get(standing.file_path, ""),
            superseded_by=[
                SuccessorEntry(
                    document_id=successor.document_id,
                    file_path=successor.file_path,
                    reference_id=references.get(successor.file_path, ""),
                    since=successor.since,
                )
                for successor in standing.successors
            ],
            valid_from=standing.valid_from,
            valid_until=standing.valid_until,
        )


def outdated_sources(retrieval: RetrievalResult) -> list[OutdatedSource] | None:
    """Return the sources that are not in force, None without any."""
    references = dict(retrieval.references)
    entries = [OutdatedSource.of(item, references) for item in retrieval.standings.values()]
    return entries or None


class WeighedStatement(BaseModel):
    """What a source says, and the authority of its document."""

    document_id: str
    file_path: str
    reference_id: str
    statement: str
    authority: int = Field(description="the greater, the weightier")

    @classmethod
    def of(cls, statement: Statement, references: dict[str, str]) -> "WeighedStatement":
        """Return the statement with the id under which the answer cites its document."""
        return cls(
            document_id=statement.document_id,
            file_path=statement.file_path,
            reference_id=references.get(statement.file_path, ""),
            statement=statement.text,
            authority=statement.authority,
        )


class OutweighedStatement(WeighedStatement):
    """A statement of a source that one of greater authority seems to contradict; both are in
    force.
    """

    contradicted_by: WeighedStatement

    @classmethod
    def of_precedence(
        cls, precedence: Precedence, references: dict[str, str]
    ) -> "OutweighedStatement":
        """Return the lighter statement of the two."""
        lighter = WeighedStatement.of(precedence.lighter, references)
        weightier = WeighedStatement.of(precedence.weightier, references)
        return cls(**vars(lighter), contradicted_by=weightier)


def outweighed_statements(retrieval: RetrievalResult) -> list[OutweighedStatement] | None:
    """Return what sources of greater authority contradict, None without any."""
    references = dict(retrieval.references)
    return [
        OutweighedStatement.of_precedence(precedence, references)
        for precedence in retrieval.precedences
    ] or None

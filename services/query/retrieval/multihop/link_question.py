"""Which entities a question names: by the index of the workspace's names, and by the graph for what
the index lacks.
"""

from collections.abc import Sequence

from offline.language.normal_forms import normal_form, words
from services.query.partitions import Partitions
from services.query.question import Question
from services.query.retrieval.concurrency import in_turn
from services.query.retrieval.dependencies import RetrievalDependencies
from services.query.retrieval.linking import Link, link_entities, unlinked_forms
from services.query.retrieval.name_index import NameIndex


async def link_question(
    question: Question, index: NameIndex, partitions: Partitions, deps: RetrievalDependencies
) -> list[Link]:
    """Return the links of the question, in order.

    What may be a name but is not in the index is looked up in the graph store as it is written,
    because the index is empty for a workspace of very many names, and seconds old otherwise.
    """
    links = await in_turn(link_entities, question.query, index)
    sure = [link for link in links if link.method != "spelling" and not link.small]
    entities = await deps.graph_reader.entities(
        partitions.graph, unlinked_forms(question.query, sure)
    )
    # What the index has was linked by it, or belongs to a longer name that is misspelt.
    new_names = [name for name in entities if not index.by_name(normal_form(words(name)))]
    for name in sorted(new_names, key=len, reverse=True):
        start = question.query.find(name)
        link = Link(name, start, start + len(name), (name,), "name")
        if not _overlaps_any(link, sure):
            sure.append(link)
    guessed_links = [link for link in links if link not in sure and not _overlaps_any(link, sure)]
    return sorted([*sure, *guessed_links], key=lambda link: link.start)


def _overlaps_any(link: Link, other_links: Sequence[Link]) -> bool:
    return any(
        link.start < other_link.end and other_link.start < link.end for other_link in other_links
    )

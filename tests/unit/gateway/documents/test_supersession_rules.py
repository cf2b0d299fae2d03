"""Which documents may supersede which, by their names."""

import pytest

from services.gateway.documents.supersession_rules import (
    MAX_ISSUES,
    NamedDocument,
    Rule,
    supersessions,
)


def pairs(*names: str, rules: tuple[Rule, ...] = tuple(Rule)) -> set[tuple[str, str, str]]:
    """The successor, the predecessor, and the rule."""
    documents = [NamedDocument(f"doc-{name}", name) for name in names]
    return {
        (item.successor.file_path, item.predecessor.file_path, item.rule)
        for item in supersessions(documents, rules)
    }


def test_each_version_supersedes_the_one_before_it() -> None:
    assert pairs("policy-v10.md", "policy-v1.md", "policy-v2.md") == {
        ("policy-v2.md", "policy-v1.md", "version"),
        ("policy-v10.md", "policy-v2.md", "version"),
    }


@pytest.mark.parametrize(
    ("successor", "predecessor", "rule"),
    [
        ("Policy Version 2.pdf", "policy_version_1.pdf", "version"),
        ("spec v1.10.md", "spec v1.9.md", "version"),
        ("statutes, 3rd/rev 4.txt", "statutes, 3rd/rev 3.txt", "version"),
        ("prices 2026.xlsx", "prices 2025.xlsx", "date"),
        ("2026/handbook.md", "2025/handbook.md", "date"),
        ("tariff-2026-02-01.md", "tariff-2025-12-31.md", "date"),
        ("tariff_20260201.md", "tariff_20251231.md", "date"),
        ("plan 2025-Q3.md", "plan 2025-Q2.md", "date"),
        ("lease-amendment.md", "lease.md", "amendment"),
        ("Lease Amendment No. 2.md", "lease.md", "amendment"),
        ("Mietvertrag_Nachtrag_1.md", "Mietvertrag.md", "amendment"),
        ("договор поправки.md", "договор.md", "amendment"),
    ],
)
def test_names_tell_which_is_newer(successor: str, predecessor: str, rule: str) -> None:
    assert pairs(successor, predecessor) == {(successor, predecessor, rule)}
    assert pairs(predecessor, successor) == {(successor, predecessor, rule)}


@pytest.mark.parametrize(
    "names",
    [
        ("chapter-1.md", "chapter-2.md"),
        ("policy-v1.md", "tariff-v2.md"),
        ("policy-v1.md", "policy-v1.pdf"),
        ("prices 2025.xlsx", "costs 2026.xlsx"),
        ("amendment.md", "lease.md"),
        ("dev1.md", "dev2.md"),
        ("part 12025.md", "part 12026.md"),
    ],
)
def test_other_names_tell_nothing(names: tuple[str, str]) -> None:
    assert pairs(*names) == set()


def test_a_journal_leaves_its_earlier_entries_in_force() -> None:
    days = [f"minutes-2026-01-{day:02}.md" for day in range(1, MAX_ISSUES + 1)]
    assert len(pairs(*days)) == MAX_ISSUES - 1
    assert pairs(*days, "minutes-2026-02-01.md") == set()


def test_only_the_rules_that_are_asked_for_propose_and_a_pair_comes_once() -> None:
    names = ("plan-v1 2025.md", "plan-v2 2025.md", "plan-v2 2026.md")
    assert pairs(*names, rules=(Rule.DATE,)) == {(names[2], names[1], "date")}
    assert len(pairs(*names)) == 2

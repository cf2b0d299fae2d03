"""Whether two statements say different things of the same, by their words."""

import pytest

from offline.answers.disagreements import disagree


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The notice period is three months.", "The notice period is six weeks."),
        ("The rent of the shed is 10 shillings.", "The rent of the shed is 12 shillings."),
        ("The maximum speed is 25 km/h.", "The maximum speed is 30 km/h."),
        ("Ada Marlow founded the office.", "Ada Marlow never founded the office."),
        ("Die Kündigungsfrist beträgt drei Monate.", "Die Kündigungsfrist beträgt sechs Wochen."),
        ("Pier Office 3 charges 10 shillings.", "Pier Office 3 charges 12 shillings."),
        ("The fee of pier 2 in Port Elm is 20 pence.", "The fee of pier 2 in Port Elm is 9 pence."),
        ("Die Frist 3 Monate gilt im Hafen.", "Die Frist 6 Wochen gilt im Hafen."),
        ("Le préavis du bail est de trois mois.", "Le préavis du bail est de six semaines."),
        ("El plazo de aviso es de tres meses.", "El plazo de aviso es de seis semanas."),
        ("Срок уведомления составляет три месяца.", "Срок уведомления составляет шесть недель."),
        ("租约的通知期为三个月。", "租约的通知期为六个月。"),
    ],
)
def test_other_quantities_and_denials_disagree(first: str, second: str) -> None:
    assert disagree(first, second)
    assert disagree(second, first)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The rent is 10 shillings.", "The rent is 10 shillings."),
        ("The harbour handled 40 ships in 2024.", "The harbour handled 52 ships in 2025."),
        ("Section 3 says when rent is due.", "Section 4 says when rent is due."),
        ("Ada Marlow leads Pier Office 3.", "Ada Marlow leads Pier Office 4."),
        (
            "The fee of pier 1 in Port Elm is 10 pence.",
            "The fee of pier 2 in Port Elm is 20 pence.",
        ),
        ("The key of room 12 is lost.", "The key of room 121 is lost."),
        ("Port Elm has two lighthouses.", "Port Elm has 2 lighthouses."),
        ("Port Elm has two lighthouses.", "Port Elm has lighthouses."),
        ("The office keeps two boats.", "The dog of the keeper is three years old."),
        ("The office never slept.", "The dog of the keeper is old."),
        ("", ""),
    ],
)
def test_other_statements_do_not(first: str, second: str) -> None:
    assert not disagree(first, second)
    assert not disagree(second, first)

"""Documents of a small fictional world, the same for the same number, in which names come back in
many documents.
"""

from random import Random

TOWNS = (
    "Port Elm",
    "Graywick",
    "Lower Tarn",
    "Ostermoor",
    "Vell Harbour",
    "Quinnsbridge",
    "Saltmarch",
    "Aldenhythe",
)
SHIPS = ("Kestrel", "Marigold", "Night Heron", "Providence", "Swift Annie", "Thistledown")
PEOPLE = (
    "Ada Marlow",
    "Bertram Oake",
    "Celia Finch",
    "Dorian Pell",
    "Edith Crane",
    "Frederick Lunn",
    "Greta Holm",
    "Hector Vane",
    "Imogen Sorrel",
    "Jasper Wren",
)
GOODS = ("salt", "timber", "wool", "copper", "tea", "lamp oil", "barley")


def documents(count: int, *, seed: int = 7, sentences: int = 6) -> dict[str, str]:
    """`count` texts by file name."""
    return {f"log-{number:05d}.txt": document(number, seed, sentences) for number in range(count)}


def document(number: int, seed: int = 7, sentences: int = 6) -> str:
    """One text: what a harbour wrote down that day."""
    dice = Random(f"{seed}-{number}")
    captain, clerk = dice.sample(PEOPLE, 2)
    town, other = dice.sample(TOWNS, 2)
    ship = dice.choice(SHIPS)
    lines = [
        f"Harbour log number {number} of {town}.",
        f"The {ship} arrived from {other} under Captain {captain}.",
        (
            f"{clerk} of the Harbour Office in {town} counted {dice.randint(2, 90)} barrels of "
            f"{dice.choice(GOODS)}."
        ),
        f"{captain} met {clerk} at the Customs House in {town}.",
        f"The Harbour Office wrote to {other} about the {ship}.",
        f"{dice.choice(PEOPLE)} paid the dues of the {ship} in {dice.choice(GOODS)}.",
    ]
    while len(lines) < sentences:
        lines.append(
            f"{dice.choice(PEOPLE)} sold {dice.choice(GOODS)} to {dice.choice(PEOPLE)} in "
            f"{dice.choice(TOWNS)}."
        )
    return " ".join(lines[:sentences])

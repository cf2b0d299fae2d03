"""The words of the fictional world: forms of names, how documents say a tie, and how questions ask
for it.
"""

ONSETS = (
    "b",
    "br",
    "c",
    "d",
    "dr",
    "f",
    "fl",
    "g",
    "gr",
    "h",
    "k",
    "kl",
    "l",
    "m",
    "n",
    "p",
    "pr",
    "r",
    "s",
    "sk",
    "st",
    "t",
    "tr",
    "v",
    "w",
    "z",
)
NUCLEI = ("a", "e", "i", "o", "u", "a", "e", "o", "ai", "ea", "ou")
CODAS = ("", "n", "r", "l", "ck", "nd", "rt", "ss", "m", "lt", "th")
FIRST = (
    "Ada",
    "Agnes",
    "Albin",
    "Berta",
    "Bruno",
    "Carla",
    "Clement",
    "Dora",
    "Edgar",
    "Elsa",
    "Felix",
    "Greta",
    "Hugo",
    "Ida",
    "Ivo",
    "Jonas",
    "Karl",
    "Lena",
    "Magda",
    "Marius",
    "Nora",
    "Olga",
    "Otto",
    "Paula",
    "Rufus",
    "Selma",
    "Theo",
    "Ursula",
    "Viktor",
    "Wanda",
)
NOUNS = (
    "Anchor",
    "Beacon",
    "Candle",
    "Compass",
    "Curlew",
    "Garden",
    "Harbour",
    "Heron",
    "Island",
    "Lantern",
    "Meadow",
    "Mirror",
    "Orchard",
    "Raven",
    "Shadow",
    "Tide",
    "Tower",
    "Winter",
)

SHARES = {
    "person": 0.34,
    "company": 0.18,
    "town": 0.14,
    "book": 0.12,
    "ship": 0.1,
    "school": 0.06,
    "region": 0.04,
    "river": 0.02,
}

FORMS = {
    "person": ("{first} {w}",),
    "company": ("{w} Works", "{w} Press", "{w} & Sons", "{w} Trading Company"),
    "town": ("{w}", "Port {w}", "{w} Bay", "Upper {w}"),
    "book": ("The {noun} of {w}", "A {noun} for {w}", "{w} Chronicle"),
    "ship": ("{w} Star", "Queen of {w}", "{w} {noun}"),
    "school": ("{w} Academy", "College of {w}", "{w} Institute"),
    "region": ("{w}land", "{w} Province", "North {w}"),
    "river": ("River {w}", "{w} Water"),
    "alias": ("{w} {noun}", "Old {w}", "{noun} {w}"),
}
ALIASES = {"person", "company", "ship", "town"}
CALLED = (
    ", also known as the {alias},",
    ", also called the {alias},",
    " (also known as the {alias})",
)
PRONOUN = {
    "person": "She",
    "company": "It",
    "town": "It",
    "book": "It",
    "ship": "It",
    "school": "It",
    "region": "It",
    "river": "It",
}
NOUN = {
    "person": "The engineer",
    "company": "The firm",
    "town": "The town",
    "book": "The novel",
    "ship": "The vessel",
    "school": "The school",
    "region": "The province",
    "river": "The stream",
}
OPENINGS = {
    "person": (
        "{name} was an engineer and collector of maps.",
        "{name} was a scholar, active from {year} on.",
        "Little is known of the childhood of {name}.",
    ),
    "company": (
        "{name} is a firm of long standing.",
        "{name} was entered into the register in {year}.",
    ),
    "town": (
        "{name} is a town of some eight thousand people.",
        "{name} received its charter in {year}.",
    ),
    "book": ("{name} is a novel of {year}.", "{name} is a story in nine chapters."),
    "ship": ("{name} is a steamship.", "{name} was launched in {year}."),
    "school": ("{name} is a school with a large deps.", "{name} opened its doors in {year}."),
    "region": (
        "{name} is a province of hills and orchards.",
        "{name} has been a province since {year}.",
    ),
    "river": ("{name} is a stream of ninety miles.", "{name} freezes over in most winters."),
}

TIES: dict[str, dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]]] = {
    "person": {
        "birthplace": (
            "town",
            ("{s} was born in {x}.", "{s} was born and grew up in {x}."),
            ("the town where {x} was born", "the birthplace of {x}", "the place {x} was born in"),
        ),
        "school": (
            "school",
            ("{s} studied at {x} for five years.", "{s} was a student of {x}."),
            ("the school where {x} studied", "the school {x} went to as a student"),
        ),
        "employer": (
            "company",
            ("{s} worked for {x} until retiring.", "{s} was employed by {x}."),
            ("the employer of {x}", "the firm that {x} worked for"),
        ),
        "spouse": (
            "person",
            ("{s} married {x} in spring.", "{s} was married to {x}."),
            ("the person {x} married", "the spouse of {x}", "the one {x} was married to"),
        ),
        "teacher": (
            "person",
            ("{s} was taught by {x}.", "{s} learned the trade from {x}, a patient teacher."),
            ("the teacher of {x}", "the person who taught {x}"),
        ),
    },
    "company": {
        "founder": (
            "person",
            ("{s} was founded by {x}.", "{x} founded the house with borrowed money."),
            ("the founder of {x}", "the person who founded {x}"),
        ),
        "seat": (
            "town",
            ("{s} has its headquarters in {x}.", "The headquarters stand in {x}."),
            ("the town where {x} has its headquarters", "the headquarters town of {x}"),
        ),
        "director": (
            "person",
            ("{s} is directed by {x}.", "{x} has been director for years."),
            ("the director of {x}", "the one who directs {x}"),
        ),
        "owner": (
            "company",
            ("{s} is owned by {x}.", "{s} was bought by {x}, the present owner."),
            ("the owner of {x}", "the company that owns {x}"),
        ),
    },
    "town": {
        "region": (
            "region",
            ("{s} lies in {x}.", "{s} lies in the south of {x}."),
            ("the province in which {x} lies", "the province where {x} lies"),
        ),
        "river": (
            "river",
            ("{x} flows through the market quarter.", "{s} is crossed by {x}, which flows south."),
            ("the river that flows through {x}", "the stream flowing through {x}"),
        ),
        "mayor": (
            "person",
            ("{s} has elected {x} as mayor.", "The mayor is {x}."),
            ("the mayor of {x}", "the person elected mayor of {x}"),
        ),
    },
    "book": {
        "author": (
            "person",
            ("{s} was written by {x}.", "{x} wrote it in a single year."),
            ("the author of {x}", "the person who wrote {x}", "the writer of {x}"),
        ),
        "publisher": (
            "company",
            ("{s} was published by {x}.", "{x} published it after long delays."),
            ("the publisher of {x}", "the house that published {x}"),
        ),
        "subject": (
            "ship",
            ("{s} tells of a voyage on {x}.", "The voyage of {x} is its subject."),
            ("the ship whose voyage is told in {x}", "the vessel that {x} tells of"),
        ),
    },
    "ship": {
        "builder": (
            "company",
            ("{s} was built by {x}.", "{x} built the hull and the engines."),
            ("the builder of {x}", "the company that built {x}"),
        ),
        "captain": (
            "person",
            ("{s} was commanded by captain {x}.", "Its captain was {x}."),
            ("the captain of {x}", "the person who commanded {x}"),
        ),
        "port": (
            "town",
            ("{s} had its home port in {x}.", "The home port was {x}."),
            ("the home port of {x}", "the town that was home port to {x}"),
        ),
    },
    "school": {
        "head": (
            "person",
            ("{s} was headed by {x}.", "The head of the school was {x}."),
            ("the head of {x}", "the person who headed {x}"),
        ),
        "place": (
            "town",
            ("{s} stands in {x}, near the square.", "{s} is located in {x}."),
            ("the town where {x} stands", "the town in which {x} is located"),
        ),
    },
    "region": {
        "capital": (
            "town",
            ("{s} has its capital at {x}.", "The capital is {x}."),
            ("the capital of {x}", "the capital town of {x}"),
        ),
        "governor": (
            "person",
            ("{s} is governed by {x}.", "The governor is {x}."),
            ("the governor of {x}", "the person who governs {x}"),
        ),
    },
    "river": {
        "source": (
            "region",
            ("{s} rises in {x}.", "The springs from which it rises are in {x}."),
            ("the province where {x} rises", "the province in which {x} has its springs"),
        ),
    },
}

ASKING = (
    "What is {phrase}?",
    "Name {phrase}.",
    "Can you tell me {phrase}?",
    "Which is {phrase}?",
    "I need {phrase}.",
)
COMPARING = ("Is {left} the same as {right}?", "Are {left} and {right} identical?")
FILLERS = (
    "Few records of those years survive.",
    "Much has been written about the matter since.",
    "A fire destroyed the archive.",
    "Visitors remember the long summers.",
    "The weather played its part.",
    "An old song mentions the affair.",
    "Some of the letters were lost.",
    "A painting in the hall recalls the day.",
    "That winter was hard.",
)

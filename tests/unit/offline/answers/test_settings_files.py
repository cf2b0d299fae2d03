"""Files of settings, with what their comments say."""

from offline.answers.quotable_sentences import quotable
from offline.answers.settings_files import is_settings_file


def parts(text: str) -> list[tuple[str, str]]:
    return [(part.heading, part.text) for part in quotable(text, ("a comment above",))]


def test_a_setting_stands_with_its_comments_below_its_section() -> None:
    text = (
        "# It is lit at dusk.\n\n[lamp]\n; seconds between two flashes\n; of the lamp\n"
        "period = 12\ncolour = white   ; or red\n#fog_horn = yes\n\n[door]\nkey=brass\n"
    )
    assert parts(text) == [
        ("", "It is lit at dusk."),
        ("lamp", "period = 12 (seconds between two flashes of the lamp)"),
        ("lamp", "colour = white (or red)"),
        ("lamp", "#fog_horn = yes"),
        ("door", "key = brass"),
    ]


def test_names_of_yaml_stand_below_those_that_head_them() -> None:
    text = (
        "lamp:\n  # seconds\n  period: 12\n  colours: [white, red]\n  note: |\n    Turn it\n"
        "    by hand.\nkeepers:\n  - name: Ann\n    # in metres\n    height: 2\n  - name: Bo\n"
        "tags:\n  - sea\n  - light\n"
    )
    assert parts(text) == [
        ("", "lamp.period: 12 (seconds)"),
        ("", "lamp.colours: [white, red]"),
        ("", "lamp.note: Turn it by hand."),
        ("", "keepers.name: Ann; height: 2 (in metres)"),
        ("", "keepers.name: Bo"),
        ("", "tags: sea light"),
    ]


def test_variables_of_an_environment_are_settings() -> None:
    text = "# Where the lamp listens\nLAMP_HOST=0.0.0.0\nexport LAMP_NAME='a|b'\n"
    assert [part for _, part in parts(text)] == [
        "LAMP_HOST = 0.0.0.0 (Where the lamp listens)",
        "LAMP_NAME = 'a|b'",
    ]


def test_other_texts_are_no_settings() -> None:
    for text in (
        "Date: 3 May\nPlace: Barn\nPresent: Ann, Bo\n",
        "# Lamp\n\nIt is lit at dusk.\n\n- wick: cotton\n- oil: rape\n",
        "---\ntitle: Lamp\nauthor: Ann\n---\n",
        "x = 1\n\nSo x is one, and y = 2 is not.\n\nThis holds for all lamps.\n",
        "From: ann@lamp.example\nTo: bo@lamp.example\nSubject: oil\n\nBring oil.\n",
    ):
        assert not is_settings_file(text)

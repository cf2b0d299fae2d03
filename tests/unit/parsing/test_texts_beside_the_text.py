"""What stands beside the text of Rich Text, mailboxes, drawings and tables is read, or counted and
said.
"""

import pytest

from runtime.errors import InvalidInput
from runtime.parsing import csv, mbox, rtf, svg


def test_rich_text_gives_notes_headers_boxes_and_comments_and_says_what_it_left_out() -> None:
    content = rtf.text(
        rb"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0\fswiss Arial;}}{\header Port \'c5lesund\par}{\footerl 1}"  # noqa: E501
        rb"The rent{\footnote By \b custom\b0.} is {\deleted GONE}due{\v secret}.{\*\annotation Too low.}\par "  # noqa: E501
        rb"{\shp{\*\shpinst{\sp{\sn x}}{\shptxt In a box\par}}{\shprslt old}}"
        rb"{\*\shppict{\pict\pngblip 89504e47}}{\nonshppict{\pict 00}}{\object{\*\objdata 01}{\result{shown}}}"  # noqa: E501
        rb"{\pict\bin3 }{\}Last.}"
    )
    assert content.text.startswith("The rent is due.")
    assert "Last." in content.text
    for line in ("Note: By custom.", "Comment: Too low.", "In a box", "Header: Port Ålesund"):
        assert line in content.text.split("\n\n")
    assert not any(word in content.text for word in ("GONE", "secret", "Footer", "8950"))
    assert set(content.warnings) == {
        "1 tracked deletion was left out: changes are read as accepted",
        "6 characters of hidden text were left out",
        "2 pictures were left out: only text is read",
        "1 embedded object was left out: add it as a file of its own",
    }


def test_a_mailbox_gives_each_message_and_counts_what_is_none() -> None:
    line = b"From ada@port.example Mon Jan  1 10:00:00 2024\n"
    first = line + b"Subject: One\n\nHello.\n>From the quay.\n\nFrom now on it is quiet.\n\n"
    picture = b"Subject: Two\nContent-Type: image/png; name=a.png\n\nxyz\n\n"
    content = mbox.text(first + line + picture + line + b"no header\n")
    assert content.text == (
        "# Message 1\n\nSubject: One\n\nHello.\nFrom the quay.\n\nFrom now on it is quiet."
        "\n\n# Message 2\n\nSubject: Two"
    )
    assert len(content.warnings) == 2
    assert "1 message was left out: they have no headers of an e-mail" in content.warnings
    with pytest.raises(InvalidInput, match="no mailbox"):
        mbox.text(b"Subject: One\n\nHello")


def test_a_drawing_gives_its_texts_and_counts_its_shapes() -> None:
    content = svg.text(
        '<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" '
        '"x"><svg xmlns="urn:x">'
        "<title>Map</title><path/><rect/><image/><text>Port<tspan>Elm</tspan></text></svg>"
    )
    assert content.text == "Map\n\nPort Elm"
    assert set(content.warnings) == {
        "1 picture was left out: only text is read",
        "2 drawn shapes were left out: only text is read",
    }
    with pytest.raises(InvalidInput, match=r"has no text in it \(1 drawn shape was left out"):
        svg.text("<svg><path/></svg>")
    with pytest.raises(InvalidInput, match="entities of its own"):
        svg.text('<!DOCTYPE svg [<!ENTITY a "b">]><svg><text>&a;</text></svg>')


def test_a_table_says_which_records_do_not_fit() -> None:
    content = csv.text("sep=;\nName;Ship\nAda;Gull;extra\nHector\n")
    assert "| Ada | Gull | extra |" in content.text
    assert "sep=" not in content.text
    assert content.warnings == (
        "1 record has more fields than the first one: their names are not known",
    )
    unclosed_field = csv.text('Name,Ship\n"Ada,Gull\nHector,Heron\nRuth,Salt\n')
    assert unclosed_field.warnings == (
        "1 field goes over several lines: is a quotation mark in it not closed?",
    )

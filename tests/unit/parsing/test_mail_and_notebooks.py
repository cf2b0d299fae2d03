"""E-mail and notebooks: what people read in them, and what is said of the rest."""

import json
from email.message import EmailMessage
from email.policy import SMTP
from typing import Any

import pytest

from runtime.errors import InvalidInput
from runtime.parsing import eml, ipynb
from runtime.parsing.files import parse
from tests.support import office_files as office
from tests.support.pdf_files import pdf

PAGE = "<p>The lease of <b>berth nine</b> ends in May 2031.</p>"


def mail(subject: str = "Berth nine") -> EmailMessage:
    message = EmailMessage()
    message["From"] = "Åsa Lind <asa@example.org>"
    message["To"] = "bruno@example.org, Ada Marlow <ada@example.org>"
    message["Cc"] = "clerk@example.org"
    message["Date"] = "Mon, 03 May 2027 10:00:00 +0000"
    message["Subject"] = subject
    return message


def read(message: EmailMessage) -> Any:
    return eml.text(message.as_bytes(policy=SMTP))


def test_headers_stand_before_the_text_with_their_words_decoded() -> None:
    message = mail("Schlüssel für Börje")
    message.set_content("The keys are here.\n")
    assert read(message).text == (
        "From: Åsa Lind <asa@example.org>\nTo: bruno@example.org, Ada Marlow "
        "<ada@example.org>\nCc: clerk@example.org\n"
        "Date: Mon, 03 May 2027 10:00:00 +0000\nSubject: Schlüssel für Börje\n\nThe keys are here."
    )


def test_a_page_is_read_as_markdown() -> None:
    message = mail()
    message.set_content(PAGE, subtype="html", cte="quoted-printable")
    assert "The lease of **berth nine** ends in May 2031." in read(message).text


@pytest.mark.parametrize("charset", ["iso-8859-2", "koi8-r", "utf-8", "windows-1251"])
def test_texts_are_read_in_their_charset(charset: str) -> None:
    words = "Żuraw przy nabrzeżu" if charset == "iso-8859-2" else "Смотритель маяка"
    body = words.encode(charset)
    head = b"From: a@b.c\nSubject: x\nContent-Type: text/plain; charset=" + charset.encode()
    assert words in eml.text(head + b"\nContent-Transfer-Encoding: 8bit\n\n" + body).text


def test_of_two_ways_to_say_the_same_the_plain_one_is_read() -> None:
    message = mail()
    message.set_content("The lease of berth nine ends in May 2031.")
    message.add_alternative(PAGE, subtype="html")
    assert read(message).text.count("berth nine ends") == 1


def test_a_plain_text_that_only_points_to_the_page_gives_way_to_it() -> None:
    message = mail()
    message.set_content("See the page.")
    message.add_alternative(PAGE * 5, subtype="html")
    assert "2031" in read(message).text


def test_attachments_and_messages_inside_are_read_and_the_others_are_named() -> None:
    message = mail()
    message.set_content("See the files.")
    message.add_attachment(
        pdf("Tariff of the harbour"), maintype="application", subtype="pdf", filename="tariff.pdf"
    )
    message.add_attachment(
        office.docx(), maintype="application", subtype="octet-stream", filename="engines.docx"
    )
    message.add_attachment("Ada\tpilot", filename="crew.txt")
    message.add_attachment(
        b"\x89PNG\r\n" * 20, maintype="image", subtype="png", filename="pier.png"
    )
    message.add_attachment(b"PK\3\4", maintype="application", subtype="zip", filename="all.zip")
    message.add_attachment(
        b"%PDF-1.4 damaged", maintype="application", subtype="pdf", filename="broken.pdf"
    )
    inner = mail("An older one")
    inner.set_content("Hector Vane wrote this.")
    message.add_attachment(inner)
    content = read(message)
    for words in (
        "Tariff of the harbour",
        "never built",
        "pilot",
        "Subject: An older one",
        "Hector Vane",
    ):
        assert words in content.text
    assert "## Attachment: tariff.pdf" in content.text
    assert len(content.warnings) == 3
    assert "the attachment pier.png (image/png, 120 bytes) was left out" in content.warnings
    assert any(
        warning.startswith("the attachment broken.pdf was left out: damaged")
        for warning in content.warnings
    )


def test_messages_in_messages_end_somewhere() -> None:
    message = mail()
    message.set_content("innermost")
    for _ in range(30):
        outer = mail()
        outer.set_content("outer")
        outer.add_attachment(message)
        message = outer
    content = read(message)
    assert "innermost" not in content.text
    assert any("deep in one another" in warning for warning in content.warnings)


@pytest.mark.parametrize(
    "data",
    [
        b"From: a@b.c\nContent-Type: multipart/mixed; boundary=x\n\nno boundary",
        b'From: a@b.c\nContent-Type: text/plain; charset="nonsense"\n\nwords',
        b"From: =?utf-8?B?!!!?= <>\nTo: ,,,;\nDate: x\nSubject: =?nonsense?Q?x?=\n\nwords",
        b"From: a@b.c\nContent-Type: text/plain\nContent-Transfer-Encoding: base64\n\nd29yZHM",
        b"From: a@b.c\nContent-Type: nonsense\n\nwords",
    ],
)
def test_damaged_messages_give_what_there_is(data: bytes) -> None:
    assert "a@b.c" in eml.text(data).text or "words" in eml.text(data).text


def test_what_is_no_mail_is_refused() -> None:
    with pytest.raises(InvalidInput, match="no e-mail"):
        eml.text(b"just a text\n\nwith lines")


def notebook(*cells: dict[str, Any]) -> str:
    return json.dumps(
        {"cells": cells, "metadata": {"kernelspec": {"language": "python"}}, "nbformat": 4}
    )


def output(**data: Any) -> dict[str, Any]:
    return {
        "output_type": "execute_result",
        "data": {name.replace("_", "/"): value for name, value in data.items()},
    }


def test_a_notebook_gives_texts_code_and_what_it_printed() -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Tides\n", "Ada Marlow measured them."]},
        {
            "cell_type": "code",
            "source": "print(tide)",
            "outputs": [
                {"output_type": "stream", "text": ["four ", "metres\n"]},
                output(text_plain="<Figure>", image_png="iVBORw0KGgo"),
                output(text_html="<b>only a page</b>"),
                {
                    "output_type": "error",
                    "ename": "ValueError",
                    "evalue": "no tide",
                    "traceback": ["\x1b[0m"],
                },
            ],
        },
        {
            "cell_type": "code",
            "source": "",
            "outputs": [{"output_type": "stream", "text": "long " * 2000}],
        },
    ]
    content = ipynb.text(notebook(*cells))
    assert content.text.startswith(
        "# Tides\nAda Marlow measured them.\n\n```python\nprint(tide)\n```\n\nfour "
        "metres\n\n<Figure>\n\n"
        "ValueError: no tide\n\nlong"
    )
    assert len(content.text) < 5000
    assert content.warnings == (
        "1 picture was left out: only text is read",
        "1 output that is no text was left out",
        "1 long output was cut",
    )


@pytest.mark.parametrize(
    "source", ["[]", "{}", '{"cells": 1}', '{"cells": [1, {"cell_type": "code", "outputs": "x"}]}']
)
def test_what_is_no_notebook_is_refused(source: str) -> None:
    with pytest.raises(InvalidInput, match=r"no notebook|has no text in it"):
        ipynb.text(source)


async def test_both_kinds_are_read_by_their_names() -> None:
    message = mail()
    message.set_content("words")
    document = await parse(message.as_bytes(), "a.eml")
    assert (document.metadata["media_type"], document.text[-5:]) == ("message/rfc822", "words")
    cells = notebook({"cell_type": "markdown", "source": "words"})
    assert (await parse(cells.encode(), "a.ipynb")).text == "words"

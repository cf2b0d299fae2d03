"""Files that cannot be documents, on a running stack: each is refused by name, with its cause."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.support import office_files as office
from tests.support.pdf_files import pdf
from tests.support.stack import Stack

MiB = 1024 * 1024


@dataclass(frozen=True)
class File:
    make: Callable[[Path], object]
    says: str


FILES = {
    "empty.txt": File(lambda path: path.write_bytes(b""), "empty"),
    "blank.md": File(lambda path: path.write_text(" \n\t\n"), "empty"),
    "binary.txt": File(lambda path: path.write_bytes(bytes(range(256)) * 20), "binary"),
    "program": File(lambda path: path.write_bytes(b"\x7fELF\0\0\1\2\3"), "not text but a program"),
    "picture.png": File(lambda path: path.write_bytes(b"\x89PNG"), "damaged, or no PNG, JPEG"),
    "film.gif": File(lambda path: path.write_bytes(b"GIF89a"), "files of kind .gif are not read"),
    "huge.txt": File(
        lambda path: path.write_bytes(b" " * 60 * MiB), "60 MB is more than the 50 MB"
    ),
    "broken.pdf": File(lambda path: path.write_bytes(b"%PDF-1.4 and nothing"), "damaged"),
    "broken.docx": File(lambda path: path.write_bytes(b"PK\3\4 and nothing"), "damaged"),
    "broken.pptx": File(
        lambda path: path.write_bytes(office.pptx()[:5000]), "damaged, or not a presentation"
    ),
    "broken.json": File(lambda path: path.write_text('{"a": }'), "not JSON at line 1, column 7"),
    "bomb.xlsx": File(
        lambda path: path.write_bytes(office.archive(a=bytes(99 * MiB))), "a zip bomb"
    ),
    "laughs.docx": File(
        lambda path: path.write_bytes(office.archive(a=b'<!DOCTYPE x [<!ENTITY a "ha">]><x/>')),
        "document type",
    ),
    "locked.pdf": File(
        lambda path: path.write_bytes(pdf("secret", password="sesame")), "protected by a password"
    ),
    "archive.zip": File(
        lambda path: path.write_bytes(office.archive(a=b"x")), "unpack the archive"
    ),
    "archive.txt": File(
        lambda path: path.write_bytes(office.archive(a=b"x")), "a zip archive: unpack"
    ),
    "back\\slash.txt": File(lambda path: path.write_text("x"), "not a plain file name"),
    "missing.txt": File(lambda path: None, "no such file or folder"),
}


def test_bad_files_are_refused_by_name_and_the_good_one_among_them_goes_through(
    stack: Stack, tmp_path: Path
) -> None:
    for name, file in FILES.items():
        file.make(tmp_path / name)
    (tmp_path / "good.txt").write_text("Ada Marlow met Hector Vane in Port Elm.")
    names = [str(tmp_path / name) for name in (*FILES, "good.txt")]

    done = stack.run("add", *names, "--wait", "--json", "--workspace", "files")

    assert done.returncode == 1
    outcome = json.loads(done.stdout)
    refused = {Path(each["name"]).name: each["reason"] for each in outcome["refused"]}
    assert refused.keys() == FILES.keys()
    for name, file in FILES.items():
        assert file.says in refused[name], name
    assert [(document["file_path"], document["status"]) for document in outcome["documents"]] == [
        ("good.txt", "processed")
    ]
    assert stack.counts("files")["all"] == 1


def test_a_folder_without_any_known_file_is_refused(stack: Stack, tmp_path: Path) -> None:
    (tmp_path / "film.gif").write_bytes(b"GIF89a")
    done = stack.run("add", str(tmp_path))
    assert done.returncode == 1
    assert "holds no file that is read: documents and text" in done.stderr
    assert "1 files skipped" in done.stdout
    assert "skipped film.gif: files of kind .gif are not read" in done.stderr

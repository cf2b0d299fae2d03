"""What must reach into other people's objects: one file per library.

Each file says of which version it is true, which issue of the library it belongs to, and which test
fails when it may go. Nothing outside of this room uses a private attribute of a library, or assigns
to one of its modules or classes (`tests/architecture/test_workarounds.py`).
"""

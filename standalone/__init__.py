"""Everything on one machine: the embedded stack, operations on any stack or deployment, and two
ways to call them.

`cli` (the command `lightstream`) and `mcp` (tools for assistants) stand over `operations`, and
those over `embedded`.
"""

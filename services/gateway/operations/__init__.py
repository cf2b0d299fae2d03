"""Routes under `/operations`: what an operator does with a running deployment.

One module for each subject, with a `router` of its own that `create_app` puts under `/operations`.
Whatever changes something needs the right to write, as every POST does, and leaves one audit line,
to which `note_details` adds what it was about. What concerns more than one workspace depends on
`WholeDeployment`.
"""

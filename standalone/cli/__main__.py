"""`python -m standalone.cli`: the command `lightstream`, for processes that give it."""

from standalone.cli import main

if __name__ == "__main__":
    main()

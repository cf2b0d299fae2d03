"""`python -m cli`: the command `lightstream`, for processes that give it."""

from cli import main

if __name__ == "__main__":
    main()

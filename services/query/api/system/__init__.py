"""Routes and models about the service itself: its health, and what pages show as its name."""

"""Routes and models about the service itself: its health, and the name that web pages show."""

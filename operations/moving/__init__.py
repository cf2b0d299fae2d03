"""Moving house: other stores are filled from the same log while the present ones serve."""

"""Questions as their askers put them: the port, and answers of this process."""

"""What the memory does, to be watched: `make demo`, `make demo-service`, `make session`."""

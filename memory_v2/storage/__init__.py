"""Where pages live: one folder or module per backend, each following the contract in `base`."""

"""Where pages live: one module per backend, all keeping the contract in `base`."""

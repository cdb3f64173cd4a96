"""The adapters against a provider on this machine, over real HTTP."""

"""The programs that agents run in, and how a memory is connected to them: their files of configuration, changed by as
few bytes as possible."""

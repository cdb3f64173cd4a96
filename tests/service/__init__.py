"""The service: its stores, and the program as clients meet it, over real sockets."""

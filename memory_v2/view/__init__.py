"""The page on which a person sees a memory: HTML made on this side, readable without JavaScript.

Each view is a function from a visit to a response. `server` serves them on this machine with the standard library
alone, so that the plain install has the page; the service mounts the same views for its keys.
"""

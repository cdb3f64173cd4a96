"""What in a folder of notes deserves a look: told with its place and what to do, never changed."""

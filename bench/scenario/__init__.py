"""Half a year of a developer's notes, played and judged: `python -m bench.scenario`."""

"""What a split may not tear, and the day of each line whatever a split has moved."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from memory_v2.memory import Memory
from memory_v2.storage.volatile import VolatileStorage
from tests.operations.scenes import SMALL
from tests.properties.whole import stands

SUBJECTS = ("harbour", "kiln", "garden", "ledger", "choir")
SHAPES = {
    "numbered": "Steps {n}, {subject}\n\n1. open the {subject}\n2. look at number {n}\n3. close it\n4. note it",
    "led": "What the {subject} needs, visit {n}:\n\n- a new lid\n- a coat of paint {n}\n- two hours of work",
    "code": "To restart the {subject} after fault {n}:\n\n```\nrestart {subject} --fault {n}\n```",
    "mail": "Mail about the {subject}, number {n}:\n\n> Dear all,\n>\n> the {subject} is shut.\n>\n> Mara",
    "design": "## Plan {n} for the {subject}\n\nIt is of stone.\n\n### Rejected\n\nWood for the {subject}, plan {n}.",
    "note": "The {subject} was looked at for the {n}th time and somebody wrote down what there was to see of it.",
    "dated": "2026-0{month}-1{day}: the {subject} was painted for the {n}th time.",
}
notes = st.lists(st.tuples(st.sampled_from(sorted(SHAPES)), st.sampled_from(SUBJECTS)), min_size=25, max_size=60)


def below_heading(text: str) -> str:
    """The text without the heading that it begins with, which may be the title of a page now."""
    return text.partition("\n\n")[2] if text.startswith("## ") else text


@settings(max_examples=25, deadline=None)
@given(notes)
def test_a_split_tears_nothing_that_hangs_together_and_each_line_keeps_its_day(
    shapes: list[tuple[str, str]],
) -> None:
    day = datetime(2026, 5, 1, 9, tzinfo=UTC)
    now = [day]
    memory = Memory(VolatileStorage(lambda: now[0]), threshold=SMALL, now=lambda: now[0])
    written: dict[str, datetime] = {}
    for n, (shape, subject) in enumerate(shapes):
        now[0] = day + timedelta(days=n)
        text = SHAPES[shape].format(subject=subject, n=n, month=1 + n % 4, day=n % 10)
        memory.write(text, "memory", "append")
        written[text] = now[0]
    for text in written:
        assert stands(memory, below_heading(text)), text
    brought = {
        line.text.strip(): line.revision.when
        for page in memory.list_files()
        for line in memory.blame(page.path)
        if line.revision
    }
    for text, when in written.items():
        told = [line for line in text.splitlines() if any(char.isdigit() for char in line) and line in brought]
        assert [(line, brought[line]) for line in told if line[:1] not in "123456789#"] == [
            (line, when) for line in told if line[:1] not in "123456789#"
        ]

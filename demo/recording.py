"""Draws a session in a terminal as a picture that moves: `make recording`.

The commands are run, in a home of their own, and the picture shows what they print. It needs no script and no font of
its own, has the colours of the reader's scheme, and stands still for those who want that.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from html import escape
from pathlib import Path

SCENES = (
    ("Monday, an agent learns something:", 'silica memory write "Silica ships with make ship, never on a Friday."'),
    ("… and keeps it on a page of its own:", 'silica memory write --to people/ada "Ada signs releases until March."'),
    ("Thursday, another agent asks:", 'silica memory search -n 1 "May I deploy on a Friday?"'),
    ("It is Markdown. You can read it, edit it, and take a change back:", "silica memory tree"),
    ("", "silica memory undo"),
)
"""What is said, and the command that is run."""
WIDTH, LINE, COLUMN, MARGIN = 860, 22, 8.43, 20
"""Of the picture, a line, a character and the margin, in pixels; a character of 14 pixels is .602 as wide as high."""
PAUSE, NEXT = 1.6, 0.15
"""Seconds before a command, and before the next line of what it prints."""
STYLE = """
svg { color-scheme: light dark; font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
rect { fill: #f6f8fa; stroke: #d0d7de; } text { fill: #1f2328; white-space: pre; }
.said { fill: #57606a; } .typed { fill: #0550ae; font-weight: 600; }
@media (prefers-color-scheme: dark) {
  rect { fill: #0d1117; stroke: #30363d; } text { fill: #e6edf3; }
  .said { fill: #9198a1; } .typed { fill: #79c0ff; }
}
@keyframes come { from { opacity: 0; } to { opacity: 1; } }
text { animation: come .2s both; }
@media (prefers-reduced-motion: reduce) { text { animation: none; } }
"""


def lines() -> Iterator[tuple[str, str, float]]:
    """Each line with its kind, and the seconds after which it comes."""
    at = 0.0
    with tempfile.TemporaryDirectory() as home:
        folder = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
        environment = {"HOME": home, "PATH": folder, "LANG": "C.UTF-8", "SILICA_MEMORY_DENSE": "off"}
        for said, command in SCENES:
            if said:
                yield "said", said, at
            at += PAUSE / 2
            yield "typed", f"$ {command}", at
            at += PAUSE / 2
            ran = subprocess.run(
                shlex.split(command), env=environment, cwd=home, capture_output=True, text=True, check=True
            )
            for line in ran.stdout.splitlines():
                yield "printed", line, at
                at += NEXT
            at += PAUSE
            yield "printed", "", at


def drawn() -> str:
    """The picture."""
    shown = [*lines()][:-1]
    height = 2 * MARGIN + LINE * len(shown)
    texts = [
        f'<text x="{MARGIN}" y="{MARGIN + LINE * number - 6}" class="{kind}" style="animation-delay:{at:.2f}s">'
        f"{escape(line)}</text>"
        for number, (kind, line, at) in enumerate(shown, 1)
        if line
    ]
    frame = f'<rect x=".5" y=".5" width="{WIDTH - 1}" height="{height - 1}" rx="8"/>'
    told = "A session in a terminal: a fact is written, found later, and taken back"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{told}">',
            f"<style>{STYLE}</style>",
            frame,
            *texts,
            "</svg>\n",
        ]
    )


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(drawn(), "utf-8")

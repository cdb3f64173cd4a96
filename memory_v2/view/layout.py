"""Where the pages of a graph are drawn: a tree around its root, with all leaves on a circle or two, so that no two
names meet. The same graph gives the same picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import cos, pi, sin, sqrt

LEAF = 17.0
"""How far leaves are apart on the circle: the height of a name."""
LEAST_RADIUS = 110.0
AROUND_NAME, LETTER = 24.0, 7.0
"""How much room a name takes outside a circle, and each letter of it."""
INNER_LETTER = 10.0
"""The same of a name inside the circle, which is larger."""
MOST_ON_CIRCLE = 80
"""With more leaves, every other stands on a second circle outside the names of the first: half the width, and names
twice as large."""
MOST_LEVEL = 10
"""With more pages inside the circle, their names are written along its radii, so that neighbours do not meet."""
HUES = 8
"""How many colours branches have; the stylesheet has as many."""


@dataclass(frozen=True, slots=True)
class Dot:
    """A page in the picture: its place, how far that is from the middle, its size, the branch it belongs to, and the
    angle at which its name is written."""

    path: str
    x: float
    y: float
    far: float
    radius: float
    branch: int
    angle: float
    is_leaf: bool
    depth: int
    is_inward: bool
    """Whether the name of a page inside the circle is written towards its middle."""
    is_below: bool
    """Whether the name stands below: of neighbours inside the circle every other, so that they meet less."""


@dataclass(frozen=True, slots=True)
class Picture:
    """The pages and the lines between them in a square of this side, with its middle at 0, 0."""

    side: float
    dots: tuple[Dot, ...]
    stems: tuple[tuple[int, str], ...]
    """The line to each dot but the first: the number of its parent, and the path to draw."""
    links: tuple[tuple[int, int, str], ...]
    """All other links: the numbers of both ends, and the path to draw."""


def draw(
    top: str,
    children: Mapping[str, Sequence[str]],
    links: Sequence[tuple[str, str]],
    sizes: Mapping[str, int],
    names: Mapping[str, str],
) -> Picture:
    """The picture of a tree with these other links."""
    order = _depth_first(top, children)
    leaves = [path for path, _ in order if not children.get(path)]
    depth = max(level for _, level in order)
    circles = 1 + (len(leaves) > MOST_ON_CIRCLE)
    radius = max(LEAST_RADIUS * (0.6 + 0.4 * depth), LEAF * len(leaves) / circles / (2 * pi)) if depth else 0.0
    room = AROUND_NAME + LETTER * max(map(len, names.values()))
    outside = {path: room * (place % circles) for place, path in enumerate(leaves)}
    knots = {path: place for place, (path, _) in enumerate(level for level in order if children.get(level[0]))}
    is_full = len(knots) > MOST_LEVEL
    share = [(level / (depth + 0.35)) ** (0.6 if is_full else 1) for level in range(depth + 1)]
    if is_full:
        inner = [(path, level) for path, level in order if level and children.get(path)]
        radius = max([radius, *(_least(level, inner, names, share) for level in range(1, depth))])
    turn = {path: 2 * pi * place / len(leaves) - pi / 2 for place, path in enumerate(leaves)}
    for path, _ in reversed(order):  # children before their parents
        if family := children.get(path):
            turn[path] = (turn[family[0]] + turn[family[-1]]) / 2
    branch = {top: 0} | {path: 1 + place % HUES for place, path in enumerate(children.get(top, ()))}
    for path, _ in order:
        branch |= {child: branch[path] for child in children.get(path, ()) if child not in branch}
    dots = {}
    for path, level in order:
        is_leaf = not children.get(path)
        far = 0.0 if path == top else radius + outside[path] if is_leaf else radius * share[level]
        dots[path] = Dot(
            path,
            far * cos(turn[path]),
            far * sin(turn[path]),
            far,
            min(4 + sqrt(sizes.get(path, 0)) / 22, 11.0),
            branch[path],
            turn[path] * 180 / pi,
            is_leaf,
            level,
            is_full and not is_leaf and level > 0,
            bool(knots.get(path, 0) % 2),
        )
    number = {path: place for place, path in enumerate(dots)}
    above = {child: path for path in dots for child in children.get(path, ())}
    stems = tuple((number[above[path]], _stem(dots[above[path]], dots[path])) for path in dots if path in above)
    others = tuple((number[start], number[end], _chord(dots[start], dots[end])) for start, end in links)
    return Picture(2 * (radius + circles * room), tuple(dots.values()), stems, others)


def _least(level: int, inner: Sequence[tuple[str, int]], names: Mapping[str, str], share: Sequence[float]) -> float:
    """The radius with which the names of a level, written towards the middle, meet neither each other nor the level
    inside."""
    long = [len(names[path]) for path, own in inner if own == level]
    if not long:
        return 0.0
    room = AROUND_NAME + INNER_LETTER * max(long)
    around = room + LEAF * len(long) / (2 * pi)
    return max(around / share[level], room / (share[level] - share[level - 1]))


def _depth_first(top: str, children: Mapping[str, Sequence[str]]) -> list[tuple[str, int]]:
    """The pages in the order in which they are around the circle, each with its level."""
    order, waiting = [], [(top, 0)]
    while waiting:
        path, level = waiting.pop()
        order.append((path, level))
        waiting += [(child, level + 1) for child in reversed(children.get(path, ()))]
    return order


def _stem(start: Dot, end: Dot) -> str:
    """A line that leaves its parent in the direction of the child's branch."""
    middle_x, middle_y = start.x * 0.35 + end.x * 0.65, start.y * 0.35 + end.y * 0.65
    return f"M{start.x:.0f} {start.y:.0f}Q{middle_x * 0.97:.0f} {middle_y * 0.97:.0f} {end.x:.0f} {end.y:.0f}"


def _chord(start: Dot, end: Dot) -> str:
    """A line that bends towards the middle, so that lines between neighbours stay near the circle."""
    bend_x, bend_y = (start.x + end.x) * 0.3, (start.y + end.y) * 0.3
    return f"M{start.x:.0f} {start.y:.0f}Q{bend_x:.0f} {bend_y:.0f} {end.x:.0f} {end.y:.0f}"

"""Texts that are hard on a Markdown parser: strategies, and named examples."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st

from tests.effort import effort

STEADY = settings(deadline=None, derandomize=True, database=None, max_examples=effort(25, 150))
"""The same examples on every run, however slow the machine."""

EXAMPLES = {
    "nothing": "",
    "blank lines": "\n \n\t\n",
    "blank lines on top": "\n\n# Title\n\ntext\n",
    "no line end": "text",
    "CRLF": "# A\r\n\r\n- one\r\n- two\r\n  more\r\n\r\ntext\r\n",
    "lone CR": "# A\r\r- one\r- two\rtext\r",
    "all three line ends": "a\r\n\r\nb\r\rc\n\nd",
    "BOM": "\ufeff# Title\n\ntext\n",
    "BOM and a fence": "\ufeff```\ncode\n```\ntext\n",
    "only a BOM": "\ufeff",
    "NUL": "a\0b\n\n\0\n\n# \0\n",
    "vertical tab and form feed": "a\x0bb\n\x0c\n\nc\x85d\u2028e\n",
    "decomposed": "e\u0301te\u0301\n\n# E\u0301\n",
    "emoji": "# 🧠\n\n👩‍💻 works\n\n- 🏴󠁧󠁢󠁥󠁮󠁧󠁿\n",
    "CJK": "# 记忆\n\n今天我们讨论了项目。\n\n- 第一\n- 第二\n",
    "fence": "a\n\n```python\n# no heading\n\n- no item\n```\n\nb\n",
    "open fence": "a\n\n```\n# no heading\n\n- no item\n",
    "longer fence inside": "````\n```\n````\nafter\n",
    "tilde fence": "~~~ x\n```\n~~~~\nafter\n",
    "fence in an item": "- one\n\n  ```\n  # code\n\n  more\n  ```\n- two\n",
    "setext": "Title\n=====\n\nSub\n---\n\ntext\n",
    "rules": "a\n\n---\n\n***\n\n_ _ _\n\nb\n",
    "table": "| a | b |\n|---|---|\n| 1 | 2 |\n| `|` | 4 |\ntext\n",
    "nested lists": "- a\n  - b\n    - c\n\n  text of a\n- d\n\n1. x\n   - y\n2. z\n",
    "three kinds of items": "- a\n* b\n+ c\n1) d\n2. e\n",
    "loose list": "- a\n\n- b\n\n\n- c\n",
    "quote": "> a\n> - b\nlazy\n\n> c\n",
    "html": "<div>\n# no heading\n\ntext\n</div>\n\n<!-- open\n\n# no heading\n",
    "script": "<script>\n\n# no heading\n\n</script> tail\ntext\n",
    "reference definitions": "[a]: /x\n[b]: /y 'title\nmore'\n\ntext [a]\n\n[c]: /z\n",
    "reference definitions on top": "\n[a]: /x\n# Title\n",
    "indented code": "a\n\n    code\n\n    more\n\nb\n",
    "tabs": "-\ta\n\n\tb\n-\tc\n\td\n",
    "deep quotes": ">" * 40 + " a\n",
    "deep list": "".join("  " * i + "- x\n" for i in range(40)),
    "empty item": "-\n-\n\n- a\n",
    "heading without blank lines": "a\n# B\nc\n## D\n- e\n",
    "heading of nothing": "#\n\n##   ##\n\ntext\n",
    "long paragraph": "word " * 8_000,
    "long fence": "```\n" + "line of code\n" * 3_000 + "```\n",
    "long item": "- " + "word " * 8_000 + "\n  - more\n",
    "trailing blanks": "a  \n\n  \nb\t\n   ",
    "front matter": "---\ntags: [a]\n---\n\n# Title\n",
    "backslashes": "\\# no\n\\- no\n\\[[no]]\n",
    "not UTF-8": "a\udcff\n\n# \udc80\n",
    "own sections in the middle": "## Links\n\n- [[a]]\n\ntext\n\n## Metadata\n\nlast_updated: x\n\ntext\n",
}

_PARTS = [
    "# Title", "## Links", "## Metadata", "### x #", "Title", "===", "---", "text", "more words here", "- item",
    "* item", "+ [ ] task", "1. one", "2) two", "  - nested", "    code", "\tcode", "```", "```py", "````", "~~~",
    "> quote",    ">> q", "| a | b |", "|---|---|", "<div>", "</div>", "<!--", "-->", "<pre>", "</pre>", "<?x",
    "[a]: /url", "[a]: /url 't",
    "- [[a]]", "- [[a/b]] - words", "[[a|b]] and `[[c]]`", "last_updated: 2026-01-01", "size_bytes: 3",
    "piece: 1 of 2, 3 bytes of fence",
    "key: value", "", "", " ", "\t", "\ufeff", "\0", "é", "e\u0301", "🧠", "日本語。", "\\", "\x0b", "\u2028", "\x85",
]  # fmt: skip
_ENDS = ["\n", "\n", "\n", "\r\n", "\r", "\n\n", ""]

lines = st.tuples(st.sampled_from(_PARTS), st.sampled_from(_ENDS)).map("".join)
markdown = st.one_of(
    st.sampled_from(list(EXAMPLES.values())),
    st.lists(lines, max_size=14).map("".join),
    st.text(st.sampled_from("#-*`~>| \t\r\n[]<!a1.:\\\ufeff"), max_size=60),
    st.text(max_size=60),
)
"""Text, most of it Markdown of a sort."""

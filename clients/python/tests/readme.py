"""The loop of the README."""

from support import PACKAGE

MAX_LINES = 25


def loop_text() -> str:
    readme = (PACKAGE / "README.md").read_text()
    text = readme.split("```python\n", 1)[1].split("```", 1)[0]
    if len(text.splitlines()) > MAX_LINES:
        raise AssertionError(f"the loop has more than {MAX_LINES} lines")
    return text

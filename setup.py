"""What pyproject.toml cannot say: for whom a wheel is, and what the package index shows of the readme."""

from __future__ import annotations

import re
from pathlib import Path

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel

# A link in Markdown to a place that is neither a URL nor on the same page.
_TO_A_FILE = re.compile(r"\[([^\]]+)\]\((?![a-z]+:|#)[^)]+\)")


class ForEveryPython(bdist_wheel):
    """The native parts are programs, and libraries that other programs load: none of them knows Python's version."""

    def get_tag(self) -> tuple[str, str, str]:
        """Python, its binary interface and the platform, of which only the last is a condition."""
        return "py3", "none", super().get_tag()[2]


def description() -> str:
    """The readme for those who have no checkout: the documents it links to are in `share/doc/steelyard`."""
    return _TO_A_FILE.sub(r"\1", Path(__file__).with_name("README.md").read_text(encoding="utf-8"))


setup(
    cmdclass={"bdist_wheel": ForEveryPython},
    long_description=description(),
    long_description_content_type="text/markdown",
)

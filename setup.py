"""What pyproject.toml cannot say: which Pythons a wheel is for, and what the package index shows of the readme."""

from __future__ import annotations

import re
from pathlib import Path

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel

# A Markdown link whose target is neither a URL nor on the same page.
_TO_A_FILE = re.compile(r"\[([^\]]+)\]\((?![a-z]+:|#)[^)]+\)")


class ForEveryPython(bdist_wheel):
    """A wheel for every Python: the native parts are programs and plain libraries, tied to no version of Python."""

    def get_tag(self) -> tuple[str, str, str]:
        """Return the tags of Python, ABI and platform, of which only the platform is a condition."""
        return "py3", "none", super().get_tag()[2]


def description() -> str:
    """Return the readme without links to files, which need a checkout (the documents are in `share/doc/steelyard`)."""
    return _TO_A_FILE.sub(r"\1", Path(__file__).with_name("README.md").read_text(encoding="utf-8"))


setup(
    cmdclass={"bdist_wheel": ForEveryPython},
    long_description=description(),
    long_description_content_type="text/markdown",
)

"""The tests of all that is in the checkout."""

import pkgutil

import pytest

# What helpers assert is told in full, too.
pytest.register_assert_rewrite(*(f"{__name__}.{module.name}" for module in pkgutil.iter_modules(__path__)))

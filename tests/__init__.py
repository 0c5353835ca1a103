"""The tests of everything in the checkout."""

import pkgutil

import pytest

# Failed assertions in helpers are explained in full, too.
pytest.register_assert_rewrite(*(f"{__name__}.{module.name}" for module in pkgutil.iter_modules(__path__)))

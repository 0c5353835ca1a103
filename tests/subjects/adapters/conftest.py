"""What the tests of adapters share."""

from tests.measure.conftest import launcher as launcher

import pytest
from shape_checks import unchecked


@pytest.fixture(scope="session")
def a_run(tmp_path_factory):
    """A small run; who changes it changes a copy."""
    # Imported here: the shape checks must be in place before any part of the library is.
    from tiny_reports import make_run

    with unchecked():
        return make_run(tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="session")
def compared(tmp_path_factory):
    """A small comparison; who changes it changes a copy."""
    from tiny_reports import make_comparison

    with unchecked():
        return make_comparison(tmp_path_factory.mktemp("comparison"))

import gc
from importlib import metadata

import pytest
import shape_checks
import skipped
import torch
from hypothesis import HealthCheck, Phase, settings
from shape_checks import unchecked

settings.register_profile(
    "beamlearn",
    deadline=None,
    max_examples=20,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],  # small cases come first; shrinking takes minutes
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("beamlearn")
shape_checks.install()
torch.set_num_threads(1)
collect_ignore = ["toy_task.py"]  # importing it registers a task


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """What is imported here stays; to look for garbage in it takes seconds."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture
def generator():
    return torch.Generator().manual_seed(0)


def pytest_runtest_setup():
    shape_checks.calls.clear()


def pytest_terminal_summary(terminalreporter, config):
    """Say in one line what was left out, and how to run it."""
    reports = terminalreporter.stats.get("skipped", [])
    reasons = [one.longrepr[2] if isinstance(one.longrepr, tuple) else "" for one in reports]
    slow = 0
    if config.option.markexpr == "not slow":  # workers do not tell how many they left out
        workers = config.getoption("numprocesses", None)
        slow = None if workers else len(terminalreporter.stats.get("deselected", []))
    terminalreporter.write_line(skipped.sentence(reasons, slow))


@pytest.fixture
def no_shape_checks():
    """Let wrong arguments reach the library's own messages, as they do outside the tests."""
    with unchecked():
        yield


@pytest.fixture(scope="module")
def module_without_shape_checks():
    """The same for all tests of a file and what they have in common."""
    with unchecked():
        yield


@pytest.fixture(scope="session")
def corpus():
    """HKCanCor, where the package that carries it is installed."""
    # Imported here: the shape checks must be in place before any part of the library is.
    from beamlearn.data.hkcancor import read_hkcancor

    try:
        metadata.distribution("pycantonese")
    except metadata.PackageNotFoundError:
        pytest.skip("needs pycantonese; install beamlearn[demo]")
    return read_hkcancor()

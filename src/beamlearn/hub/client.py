"""The package huggingface_hub, and what becomes of its errors."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from ..check import UsageError


class HubError(RuntimeError):
    """The Hub could not be asked, or did not answer as it should."""


def package() -> Any:
    """huggingface_hub, which is not always installed."""
    try:
        import huggingface_hub
    except ImportError:
        raise UsageError(
            "Repositories of the Hub need the package 'huggingface_hub', which is not installed; "
            "run `pip install 'beamlearn[hub]'`."
        ) from None
    return huggingface_hub


def endpoint() -> str | None:
    """Another address of the Hub, if there is one for this process; None: the usual one."""
    return os.environ.get("HF_ENDPOINT") or None


@contextmanager
def answering(repository: str) -> Iterator[None]:
    """Put errors of the Hub into a sentence."""
    from huggingface_hub import errors

    missing = (errors.RepositoryNotFoundError, errors.RevisionNotFoundError)
    try:
        with shown():
            yield
    except missing as error:
        raise UsageError(
            f"There must be a repository {repository} that you may read, but the Hub knows none; "
            "check its name and revision, and for a private one log in with `hf auth login`."
        ) from error
    except errors.LocalEntryNotFoundError as error:
        raise HubError(
            f"The Hub cannot be reached, and no copy of {repository} is on this machine; check the "
            "connection, and try again."
        ) from error
    except errors.HfHubHTTPError as error:
        status = getattr(error.response, "status_code", None)
        if status in (401, 403):
            raise UsageError(
                f"You must be logged in, and may write to {repository}, but the Hub refuses "
                f"(status {status}); log in with `hf auth login`, and check the name."
            ) from error
        raise HubError(f"The Hub has failed with status {status}; try again later.") from error
    except Exception as error:
        if not is_unreachable(error):
            raise
        raise HubError(
            f"The Hub cannot be reached ({type(error).__name__}: {error}); check the connection, "
            "and try again."
        ) from error


def is_unreachable(error: Exception) -> bool:
    """Is it about the connection? The Hub's package hands on the errors of the one it is built on.

    That is requests, httpx or its successor, by version.
    """
    roots = {f"{kind.__module__.partition('.')[0]}.{kind.__name__}" for kind in type(error).__mro__}
    theirs = {"httpx.HTTPError", "httpx2.HTTPError", "requests.RequestException"}
    return isinstance(error, ConnectionError) or bool(roots & theirs)


@contextmanager
def shown() -> Iterator[None]:
    """Show bars on a terminal only."""
    utils = import_module("huggingface_hub.utils")
    if sys.stderr.isatty() or utils.are_progress_bars_disabled():
        yield
        return
    utils.disable_progress_bars()
    try:
        yield
    finally:
        utils.enable_progress_bars()

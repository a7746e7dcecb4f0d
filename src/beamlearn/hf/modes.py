"""The mode of a model, training or evaluation, is left as it was found."""

from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Put a model into evaluation mode for a while; each part then gets back its own.

    >>> from torch import nn
    >>> model = nn.Sequential(nn.Dropout(), nn.Dropout().eval())
    >>> with evaluating(model):
    ...     model.training
    False
    >>> [part.training for part in model]
    [True, False]
    """
    trained = [part for part in model.modules() if part.training]
    for part in trained:  # quicker than `eval`, which goes through all parts once more
        part.training = False
    try:
        yield
    finally:
        for part in trained:
            part.training = True

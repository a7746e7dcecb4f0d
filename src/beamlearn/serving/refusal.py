"""Refusal: why there is no answer, with its HTTP status."""

from typing import final


@final
class Refusal(Exception):  # noqa: N818 (it is also what an input may get)
    """A request, or one of its inputs, that has no answer."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status

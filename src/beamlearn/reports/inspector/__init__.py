"""Inspect a search: its hypotheses, the one that won, and where the best one was dropped."""

from .inspected_run import InspectedInput as InspectedInput
from .inspected_run import InspectedRun as InspectedRun
from .inspected_run import inspect_input as inspect_input
from .inspected_search import InspectedSearch as InspectedSearch
from .inspected_search import inspect_search as inspect_search
from .request import InputRequest as InputRequest
from .request import RequestError as RequestError

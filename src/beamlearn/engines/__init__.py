"""Where work is done: in this machine's processes, or on a Dask cluster."""

from .engine import ENGINES as ENGINES
from .engine import EngineError as EngineError
from .engine import open_engine as open_engine

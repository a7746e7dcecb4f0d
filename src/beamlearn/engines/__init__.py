"""Where work is done: in this machine's processes, on a Dask cluster, or in jobs of SLURM."""

from .engine import ENGINES as ENGINES
from .engine import EngineError as EngineError
from .engine import open_engine as open_engine

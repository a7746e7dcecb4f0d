"""The run folder: what training writes, and everything else reads."""

from ..choices import Policy as Policy
from .checkpoint import Checkpoint as Checkpoint
from .folder import CONFIG as CONFIG
from .folder import MODEL as MODEL
from .folder import POLICIES as POLICIES
from .folder import VOCABULARY as VOCABULARY
from .folder import Run as Run
from .folder import Trace as Trace
from .portable import PORTABLE as PORTABLE
from .portable import portable_files as portable_files
from .records import BusyError as BusyError
from .records import OccupiedError as OccupiedError
from .records import RunError as RunError
from .replacing import left_aside as left_aside
from .replacing import replacing as replacing

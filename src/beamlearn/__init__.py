"""Learn beam search policies by imitation (Negrinho, Gormley and Gordon, NeurIPS 2018).

The names are listed in `__init__.pyi` and loaded, torch with them, when they are first used.
"""

from importlib.metadata import version as _version

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
__version__ = _version("beamlearn")

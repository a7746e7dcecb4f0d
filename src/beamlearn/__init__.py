"""Learn beam search policies by imitation (Negrinho, Gormley and Gordon, NeurIPS 2018)."""

from importlib.metadata import version as _version

from . import baselines as baselines
from . import losses as losses
from . import strategies as strategies
from .algorithms import ALGORITHMS as ALGORITHMS
from .algorithms import Algorithm as Algorithm
from .certificate import Certificate as Certificate
from .enumeration import BruteForceOracle as BruteForceOracle
from .estimators import BeamParser as BeamParser
from .estimators import BeamTagger as BeamTagger
from .estimators import BeamTransducer as BeamTransducer
from .evaluate import Evaluation as Evaluation
from .evaluate import evaluate as evaluate
from .evaluate import incurred as incurred
from .graph import GraphSpace as GraphSpace
from .graph import GraphTask as GraphTask
from .hindsight import Hindsight as Hindsight
from .hindsight import best_in_hindsight as best_in_hindsight
from .learn import BestOnValidation as BestOnValidation
from .learn import Round as Round
from .learn import Task as Task
from .learn import learn as learn
from .learn import minibatches as minibatches
from .mixture import Average as Average
from .mixture import Mixture as Mixture
from .mixture import Reservoir as Reservoir
from .neighbors import Move as Move
from .neighbors import Neighbors as Neighbors
from .online import FollowTheLeader as FollowTheLeader
from .online import ProjectedGradient as ProjectedGradient
from .oracle import Oracle as Oracle
from .oracle_check import OracleCheck as OracleCheck
from .oracle_check import check_oracle as check_oracle
from .pool import pooled_search as pooled_search
from .regret import certify as certify
from .regret import interpolation_alphas as interpolation_alphas
from .scorer import FunctionScorer as FunctionScorer
from .scorer import LinearScorer as LinearScorer
from .scorer import ParallelScorer as ParallelScorer
from .scorer import Scorer as Scorer
from .search import Hypothesis as Hypothesis
from .search import SearchResult as SearchResult
from .search import beam_search as beam_search
from .search import exhaustive_search as exhaustive_search
from .selection import select as select
from .space import Expansion as Expansion
from .space import Finish as Finish
from .space import NumberedSpace as NumberedSpace
from .space import SearchSpace as SearchSpace
from .trajectory import beam_trajectory as beam_trajectory
from .transitions import Trajectory as Trajectory

__version__ = _version("beamlearn")

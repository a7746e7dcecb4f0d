"""Learn beam search policies by imitation (Negrinho, Gormley and Gordon, NeurIPS 2018)."""

from importlib.metadata import version as _version

from . import losses as losses
from . import strategies as strategies
from .algorithms import ALGORITHMS as ALGORITHMS
from .algorithms import Algorithm as Algorithm
from .estimators import BeamParser as BeamParser
from .estimators import BeamTagger as BeamTagger
from .estimators import BeamTransducer as BeamTransducer
from .evaluation.evaluate import Evaluation as Evaluation
from .evaluation.evaluate import evaluate as evaluate
from .evaluation.evaluate import on_policy_losses as on_policy_losses
from .learning.collect import beam_trajectory as beam_trajectory
from .learning.iterates import Average as Average
from .learning.iterates import Mixture as Mixture
from .learning.iterates import Reservoir as Reservoir
from .learning.learn import BestOnValidation as BestOnValidation
from .learning.learn import Round as Round
from .learning.learn import Task as Task
from .learning.learn import learn as learn
from .learning.learn import minibatches as minibatches
from .learning.optimizers import FollowTheLeader as FollowTheLeader
from .learning.optimizers import ProjectedGradient as ProjectedGradient
from .learning.trajectory import Trajectory as Trajectory
from .losses import baselines as baselines
from .search.beam_search import Hypothesis as Hypothesis
from .search.beam_search import SearchResult as SearchResult
from .search.beam_search import beam_search as beam_search
from .search.beam_search import exhaustive_search as exhaustive_search
from .search.brute_force import BruteForceOracle as BruteForceOracle
from .search.check_oracle import OracleCheck as OracleCheck
from .search.check_oracle import check_oracle as check_oracle
from .search.graph import GraphSpace as GraphSpace
from .search.graph import GraphTask as GraphTask
from .search.linear_scorer import LinearScorer as LinearScorer
from .search.neighbors import Move as Move
from .search.neighbors import Neighbors as Neighbors
from .search.oracle import Oracle as Oracle
from .search.pooled_search import pooled_search as pooled_search
from .search.scorer import FunctionScorer as FunctionScorer
from .search.scorer import ParallelScorer as ParallelScorer
from .search.scorer import Scorer as Scorer
from .search.space import Expansion as Expansion
from .search.space import Finish as Finish
from .search.space import NumberedSpace as NumberedSpace
from .search.space import SearchSpace as SearchSpace
from .search.visits import Visits as Visits
from .theory.certificate import Certificate as Certificate
from .theory.certificate import certify as certify
from .theory.certificate import interpolation_alphas as interpolation_alphas
from .theory.hindsight import Hindsight as Hindsight
from .theory.hindsight import best_in_hindsight as best_in_hindsight
from .theory.iterate_selection import select_iterate as select_iterate
from .theory.loss_bounds import loss_bound as loss_bound
from .theory.loss_bounds import trajectory_bound as trajectory_bound
from .theory.regret import regret as regret

incurred = on_policy_losses  # the former name
select = select_iterate  # the former name

__version__ = _version("beamlearn")

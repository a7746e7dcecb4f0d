"""The twelve surrogate losses and three baselines: pure functions over A_b."""

from .baselines import SURROGATES as SURROGATES
from .baselines import check_needs as check_needs
from .equations import LOSSES as LOSSES
from .equations import cost_sensitive_margin_beam as cost_sensitive_margin_beam
from .equations import cost_sensitive_margin_last as cost_sensitive_margin_last
from .equations import log_loss_beam as log_loss_beam
from .equations import log_loss_neighbors as log_loss_neighbors
from .equations import margin_last as margin_last
from .equations import perceptron_first as perceptron_first
from .equations import perceptron_last as perceptron_last
from .equations import softmax_margin_beam as softmax_margin_beam
from .equations import upper_bound as upper_bound
from .equations import weighted_pairs_all as weighted_pairs_all
from .equations import weighted_pairs_bipartite as weighted_pairs_bipartite
from .equations import weighted_pairs_hybrid as weighted_pairs_hybrid
from .loss import AnyLoss as AnyLoss
from .loss import Loss as Loss
from .loss import Needs as Needs
from .loss import check_losses as check_losses
from .loss import name_of as name_of
from .loss import only_on_increase as only_on_increase
from .loss import surrogate as surrogate
from .loss import with_best as with_best
from .loss import with_options as with_options
from .ranked import Best as Best

"""What training logs, sent to TensorBoard, Weights & Biases or MLflow as well."""

from .tracker import LOGS as LOGS
from .tracker import check_logs as check_logs
from .tracker import logging as logging

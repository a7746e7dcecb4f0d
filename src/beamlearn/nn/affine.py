"""A linear layer whose weights lie in memory as a few hypotheses at a time read them."""

from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn


@final
class Affine(nn.Module):
    """x W + b.

    A step of a search multiplies few rows with all weights, and waits for these to come from
    memory. `nn.Linear` keeps W transposed, which is slower to read: for 1 to 64 rows a product
    takes up to twice the time. For many rows there is no difference.
    """

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(inputs, outputs))
        self.bias = nn.Parameter(torch.empty(outputs))
        for parameter in (self.weight, self.bias):
            nn.init.uniform_(parameter, -(inputs**-0.5), inputs**-0.5)

    def forward(self, x: Float[Tensor, "*shape inputs"]) -> Float[Tensor, "*shape outputs"]:
        rows = torch.addmm(self.bias, x.reshape(-1, x.shape[-1]), self.weight)
        return rows.view(*x.shape[:-1], -1)

import pytest

from beamlearn.search.sample_result import SampledOutput
from beamlearn.tasks.sampling import records


def way(output, probability, inclusion):
    return SampledOutput(output, 0.0, probability, 0.0, inclusion, probability / inclusion)


def test_outputs_that_are_spelled_alike_are_one():
    """Either of its ways may be in the sample; weights and probabilities add up."""
    ways = [way("ab", 0.2, 0.5), way("c", 0.1, 1e-18), way("a b", 0.1, 0.4)]
    found = records(ways, lambda output: {"text": output.replace(" ", "")})
    assert [record["text"] for record in found] == ["ab", "c"]
    assert found[0]["probability"] == pytest.approx(0.3)
    assert found[0]["inclusion"] == pytest.approx(1 - 0.5 * 0.6)
    assert found[0]["weight"] == pytest.approx(0.2 / 0.5 + 0.1 / 0.4)
    assert found[1]["inclusion"] == 1e-18

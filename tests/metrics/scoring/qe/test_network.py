"""The network against loops written from the equations, and PyTorch's gradients."""

from __future__ import annotations

import importlib
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from metrics.scoring.qe.forward import predictions
from metrics.scoring.qe.options import QualityOptions
from metrics.scoring.qe.vocabulary import Vocabulary

torch: Any
own: Any  # what the network is made of
WORDS = [f"w{number}" for number in range(8)]
VOCABULARY = Vocabulary(WORDS, WORDS)
RNG = np.random.default_rng(3)
SOURCES = [RNG.integers(0, 9, size=length) for length in (3, 1, 5, 5, 2)]
OUTPUTS = [RNG.integers(0, 9, size=length) for length in (4, 6, 1, 2, 2)]
SMALL = QualityOptions(embedding=6, dropout=0.0)


@pytest.fixture(scope="module", autouse=True)
def _import_torch() -> None:
    """Import it for these tests alone: it takes each process a second."""
    global torch, own
    torch = pytest.importorskip("torch")
    own = importlib.import_module("metrics.scoring.qe.torch_network")


def network(options: QualityOptions) -> Any:
    return own.Network(options, VOCABULARY, 4.5, 1)


def sigmoid(value: float) -> float:
    return 1 / (1 + math.exp(-value))


def gru_by_loop(inputs: list[np.ndarray], arrays: dict[str, np.ndarray], name: str, layer: int) -> list[np.ndarray]:
    """Cho et al. (2014), equations 5 to 8, unit by unit, the reset gate after the product, as PyTorch documents it."""
    w, u, b, c = (
        arrays[f"{name}_{part}_{layer}"].astype(float)
        for part in ("input_weights", "state_weights", "input_bias", "state_bias")
    )
    size = u.shape[1]
    state, states = np.zeros(size), []
    for value in inputs:
        following = np.empty(size)
        for unit in range(size):
            rows = unit, size + unit, 2 * size + unit
            of_input = [float(w[row] @ value) + b[row] for row in rows]
            of_state = [float(u[row] @ state) + c[row] for row in rows]
            reset, update = sigmoid(of_input[0] + of_state[0]), sigmoid(of_input[1] + of_state[1])
            candidate = math.tanh(of_input[2] + reset * of_state[2])
            following[unit] = (1 - update) * candidate + update * state[unit]
        state = following
        states.append(state)
    return states


def test_predictions_are_those_of_a_loop_over_the_equations() -> None:
    options = replace(SMALL, layers=2)
    arrays = network(options).arrays()
    expected = []
    for source, output in zip(SOURCES, OUTPUTS, strict=True):
        states = []
        for name, ids in (("source", source), ("output", output)):
            values = list(arrays[f"{name}_embedding"].astype(float)[ids])
            for layer in range(2):
                values = gru_by_loop(values, arrays, name, layer)
            states.append(values[-1])
        z = np.concatenate(states)  # equation 3 of Dušek et al. (2017)
        for layer in range(2):  # equation 4
            z = np.tanh(arrays[f"joined_tanh_weights_{layer}"] @ z + arrays[f"joined_tanh_bias_{layer}"])
        expected.append(arrays["joined_last_weights"] @ z + arrays["joined_last_bias"][0])  # equation 5
    np.testing.assert_allclose(predictions(arrays, options, SOURCES, OUTPUTS), expected, rtol=1e-5)


@pytest.mark.parametrize("cell", ["gru", "lstm"])
@pytest.mark.parametrize("encoders", ["separate", "shared"])
@pytest.mark.parametrize("combination", ["joined", "apart"])
def test_the_network_that_learns_is_the_one_that_predicts(cell: str, encoders: str, combination: str) -> None:
    options = replace(SMALL, cell=cell, encoders=encoders, combination=combination, layers=2)
    made = network(options)
    learns = made(own.Places(SOURCES), own.Places(OUTPUTS)).mean(dim=0).detach().numpy()
    np.testing.assert_allclose(predictions(made.arrays(), options, SOURCES, OUTPUTS), learns, rtol=1e-6)
    assert len(set(np.round(learns, 6))) > 1


@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_an_encoder_has_the_states_of_pytorchs_own_layer(cell: str) -> None:
    options = replace(SMALL, cell=cell)
    made = network(options)
    arrays = made.arrays()
    layer = (torch.nn.GRU if cell == "gru" else torch.nn.LSTM)(6, 6)
    parts = ("input_weights", "state_weights", "input_bias", "state_bias")
    with torch.no_grad():
        for parameter, part in zip(layer.parameters(), parts, strict=True):
            parameter.copy_(torch.from_numpy(arrays[f"source_{part}_0"]))
        embedding = torch.from_numpy(arrays["source_embedding"])
        expected = [layer(embedding[torch.from_numpy(ids)])[0][-1].numpy() for ids in SOURCES]
        states = made.final_states("source", own.Places(SOURCES)).numpy()
    np.testing.assert_allclose(states, expected, rtol=1e-5, atol=1e-7)


def test_gradients_of_the_recurrent_layer_are_those_of_finite_differences() -> None:
    places = own.Places(SOURCES)
    generator = torch.Generator().manual_seed(1)
    shapes = ((len(places.ids), 4), (12, 4), (12, 4), (12,), (12,))
    inputs = [torch.randn(*shape, dtype=torch.float64, generator=generator, requires_grad=True) for shape in shapes]
    assert torch.autograd.gradcheck(lambda *values: own.Gru.apply(*values, places, False), inputs)


def test_products_in_bfloat16_lead_to_nearly_the_same_gradients() -> None:
    gradients = []
    for precision in ("highest", "medium"):
        torch.set_float32_matmul_precision(precision)
        try:
            made = network(replace(SMALL, embedding=64))
            own.squared_error(made(own.Places(SOURCES), own.Places(OUTPUTS)), np.arange(5.0)).backward()
        finally:
            torch.set_float32_matmul_precision("highest")
        gradients.append(made.get_parameter("source_input_weights_0").grad.numpy())
    apart = np.linalg.norm(gradients[0] - gradients[1]) / np.linalg.norm(gradients[0])
    assert 0 < apart < 0.02


def test_dropout_zeroes_inputs_and_unknown_words_are_zero_and_stay_so() -> None:
    made = network(replace(SMALL, dropout=0.5))
    places = own.Places(SOURCES), own.Places(OUTPUTS)
    plain, dropped = made(*places), made(*places, np.random.default_rng(1))
    assert not torch.equal(plain, dropped)
    assert torch.equal(dropped, made(*places, np.random.default_rng(1)))
    own.Optimizer(made).step(own.squared_error(dropped, np.arange(5.0)))
    assert not made.arrays()["source_embedding"][0].any()
    assert not torch.equal(plain, made(*places))


def test_a_step_is_that_of_adams_algorithm() -> None:
    """Algorithm 1 of Kingma and Ba (2015), for two steps."""
    made = network(replace(SMALL, learning_rate=0.01))
    optimizer, name = own.Optimizer(made), "joined_tanh_weights_1"
    value = made.arrays()[name].astype(float)
    m = v = np.zeros_like(value)
    for t in (1, 2):
        optimizer.step(own.squared_error(made(own.Places(SOURCES), own.Places(OUTPUTS)), np.arange(5.0)))
        gradient = made.get_parameter(name).grad.numpy().astype(float)
        m, v = 0.9 * m + 0.1 * gradient, 0.999 * v + 0.001 * gradient**2
        value = value - 0.01 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
        np.testing.assert_allclose(made.arrays()[name], value, atol=1e-6)


def test_the_rank_loss_is_zero_a_point_apart() -> None:
    better, worse = torch.tensor([[4.0, 3.0, 2.0]]), torch.tensor([[3.0, 2.5, 4.0]])
    assert float(own.rank_loss(better, worse)) == pytest.approx((0 + 0.5 + 3) / 3)

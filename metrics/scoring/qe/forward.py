"""The network's predictions in NumPy: a trained model scores where PyTorch is not installed.

References
----------
[1] Dušek, Novikova and Rieser: Referenceless quality estimation for natural language generation. LGNL 2017.
[2] Cho et al.: Learning phrase representations using RNN encoder-decoder. EMNLP 2014, with the reset gate after the
    product of state and weights, as cuDNN and PyTorch have it.
[3] Hochreiter and Schmidhuber: Long short-term memory. Neural Computation 9, 1997; gates in PyTorch's order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from metrics.scoring.arrays import Float32s, Floats, Ints
from metrics.scoring.qe.options import QualityOptions
from metrics.scoring.qe.packed import Packed

Arrays = Mapping[str, NDArray[Any]]

SIDES = ("source", "output")
GATES = {"gru": 3, "lstm": 4}

_AT_ONCE = 512  # sequences


def encoder_name(options: QualityOptions, side: str) -> str:
    """Return the first word of the names of an encoder's arrays."""
    return "shared" if options.encoders == "shared" else side


def heads(options: QualityOptions) -> Sequence[str]:
    """Return the first words of the names of the layers over final states: one for both, or one for each."""
    return SIDES if options.combination == "apart" else ("joined",)


def predictions(arrays: Arrays, options: QualityOptions, sources: Sequence[Ints], outputs: Sequence[Ints]) -> Floats:
    """Return the predicted ratings (n,), neither rounded nor clipped; equal sequences are encoded once."""
    states = [
        _final_states(arrays, options, encoder_name(options, side), sequences)
        for side, sequences in zip(SIDES, (sources, outputs), strict=True)
    ]
    inputs = states if options.combination == "apart" else [np.concatenate(states, axis=1)]
    each = [_head(arrays, options, name, state) for name, state in zip(heads(options), inputs, strict=True)]
    return np.asarray(np.mean(each, axis=0), dtype=np.float64)


def _final_states(arrays: Arrays, options: QualityOptions, name: str, sequences: Sequence[Ints]) -> Float32s:
    numbers: dict[bytes, int] = {}
    index = np.array([numbers.setdefault(each.tobytes(), len(numbers)) for each in sequences], dtype=np.int64)
    distinct = [np.frombuffer(each, dtype=np.int64) for each in numbers]
    by_length = sorted(range(len(distinct)), key=lambda at: len(distinct[at]))
    states = np.empty((len(distinct), options.embedding), dtype=np.float32)
    for start in range(0, len(distinct), _AT_ONCE):
        chosen = by_length[start : start + _AT_ONCE]
        states[chosen] = _encoded(arrays, options, name, Packed.of([distinct[at] for at in chosen]))
    return states[index]


def _encoded(arrays: Arrays, options: QualityOptions, name: str, packed: Packed) -> Float32s:
    """Return the final state of the last layer (S, h)."""
    values = np.asarray(arrays[f"{name}_embedding"])[packed.ids]
    step = _gru_step if options.cell == "gru" else _lstm_step
    final = values
    for layer in range(options.layers):
        weights, state_weights, bias, state_bias = (
            np.asarray(arrays[f"{name}_{part}_{layer}"])
            for part in ("input_weights", "state_weights", "input_bias", "state_bias")
        )
        # [1] Eq. 1 and 2: every token's part of the gates at once, then the state's part token by token.
        gates = values @ weights.T + bias
        hidden = np.zeros((2, packed.counts[0], options.embedding), dtype=np.float32)
        values = np.empty((len(gates), options.embedding), dtype=np.float32)
        start = 0
        for count in packed.counts:
            hidden[:, :count] = step(
                gates[start : start + count], hidden[0, :count] @ state_weights.T + state_bias, hidden[:, :count]
            )
            values[start : start + count] = hidden[0, :count]
            start += count
        final = hidden[0]
    return np.asarray(final[packed.slots], dtype=np.float32)


def _gru_step(gates: Float32s, state_gates: Float32s, hidden: Float32s) -> Float32s:
    """Return the next state: [2], with reset gate r, update gate z and candidate n."""
    r, z, _ = np.split(expit(gates + state_gates), 3, axis=1)
    n = np.tanh(np.split(gates, 3, axis=1)[2] + r * np.split(state_gates, 3, axis=1)[2])
    state = (1 - z) * n + z * hidden[0]
    return np.stack([state, state])


def _lstm_step(gates: Float32s, state_gates: Float32s, hidden: Float32s) -> Float32s:
    """Return the next state and cell: [3], with input gate i, forget gate f, candidate g and output gate o."""
    both = gates + state_gates
    i, f, _, o = np.split(expit(both), 4, axis=1)
    g = np.tanh(np.split(both, 4, axis=1)[2])
    cell = f * hidden[1] + i * g
    return np.stack([o * np.tanh(cell), cell])


def _head(arrays: Arrays, options: QualityOptions, name: str, states: Float32s) -> Float32s:
    """Return the predictions (n,) of the layers over states (n, d): [1] Eq. 3 to 5, with biases."""
    for layer in range(options.tanh_layers):
        states = np.tanh(
            states @ np.asarray(arrays[f"{name}_tanh_weights_{layer}"]).T + arrays[f"{name}_tanh_bias_{layer}"]
        )
    return np.asarray(states @ np.asarray(arrays[f"{name}_last_weights"]) + arrays[f"{name}_last_bias"])

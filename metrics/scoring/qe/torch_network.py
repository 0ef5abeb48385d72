"""The network in PyTorch, for training; `metrics.scoring.qe.forward` has the equations and predicts.

Imported by `metrics.scoring.qe.training` when it trains a network: PyTorch is optional, and takes seconds to import.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from metrics.scoring.arrays import Float32s, Floats, Ints
from metrics.scoring.qe.forward import GATES, SIDES, encoder_name, heads
from metrics.scoring.qe.options import QualityOptions
from metrics.scoring.qe.packed import Packed
from metrics.scoring.qe.vocabulary import Vocabulary

BETAS, EPSILON = (0.9, 0.999), 1e-8  # as the article recommends

_ROWS = 128

# Gradients through functions whose values are known.
_SIGMOID, _TANH = torch.ops.aten.sigmoid_backward.grad_input, torch.ops.aten.tanh_backward.grad_input

# The first layer over both final states: here half of its weights for each side, and the bias for the first.
JOINED, JOINED_BIAS = "joined_tanh_weights_0", "joined_tanh_bias_0"
ENCODER_PARTS = ("input_weights", "state_weights", "input_bias", "state_bias")


class Gru(torch.autograd.Function):  # type: ignore[misc] # mypy does not read PyTorch
    """One layer of gated recurrent units over packed sequences: all states from all inputs, or the final ones.

    The products that no state is waiting for are made once for all tokens: those with the inputs, and the gradients of
    the weights. PyTorch's own layer makes the latter token by token, with a sum over all weights each time. All else is
    done token by token, while the rows of a token are in the processor's cache.
    """

    @staticmethod
    def forward(
        ctx: Any,
        values: Tensor,
        weights: Tensor,
        state_weights: Tensor,
        bias: Tensor,
        state_bias: Tensor,
        packed: Any,
        is_last: bool,
    ) -> Tensor:
        counts, size = packed.counts, state_weights.shape[1]
        # Reset and update gates, and the state's part of the candidate: a state's products are added in place.
        gates, candidate = values.new_empty(len(values), 3 * size), values.new_empty(len(values), size)
        gates[:, 2 * size :] = state_bias[2 * size :]
        _plus_times((bias + state_bias)[: 2 * size], values, weights[: 2 * size].t(), gates[:, : 2 * size])
        _plus_times(bias[2 * size :], values, weights[2 * size :].t(), candidate)
        states = torch.empty_like(candidate)
        low = _is_low(values)
        transposed = state_weights.bfloat16().t() if low else state_weights.t()
        hidden = values.new_zeros(counts[0], size)
        of_tokens = [gates, gates[:, : 2 * size], *gates.split(size, 1), candidate, states]
        for step, rows in enumerate(zip(*(each.split(counts) for each in of_tokens), strict=True)):
            row_gates, both, reset, update, state_part, row_candidate, row_states = rows
            before = hidden[: len(row_gates)]
            if step and low:
                row_gates.add_(before.bfloat16() @ transposed)
            elif step:  # before the first token a state is all zeros
                row_gates.addmm_(before, transposed)
            both.sigmoid_()
            row_candidate.addcmul_(reset, state_part).tanh_()
            hidden = torch.lerp(row_candidate, before, update, out=row_states)
        ctx.save_for_backward(values, weights, state_weights, gates, candidate, states)
        ctx.packed, ctx.is_last = packed, is_last
        return states[packed.last] if is_last else states

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:
        values, weights, state_weights, gates, candidate, states = ctx.saved_tensors
        counts, size = ctx.packed.counts, state_weights.shape[1]
        n = counts[0]
        before = torch.empty_like(states)
        before[:n] = 0.0
        torch.index_select(states, 0, ctx.packed.previous, out=before[n:])
        # Of what the sigmoids and hyperbolic tangents are taken of; of the candidate's, its state's part apart.
        gradients, of_candidate = torch.empty_like(gates), torch.empty_like(candidate)
        # The gradient of a final state is waiting, in the order of packing, for the sequence's last token.
        of_states = upstream[ctx.packed.order] if ctx.is_last else upstream.new_zeros(n, size)
        low = _is_low(values)
        back = state_weights.bfloat16() if low else state_weights
        of_tokens = [*gates.split(size, 1), candidate, before, *gradients.split(size, 1), gradients, of_candidate]
        of_tokens += [] if ctx.is_last else [upstream]
        for step, rows in reversed(list(enumerate(zip(*(each.split(counts) for each in of_tokens), strict=True)))):
            reset, update, state_part, row_candidate, row_before = rows[:5]
            of_reset, of_update, of_state_part, of_gates, of_input_part, *of_outputs = rows[5:]
            of_state = of_states[: len(reset)]
            for each in of_outputs:
                of_state.add_(each)
            torch.sub(row_before, row_candidate, out=of_update).mul_(of_state)
            _SIGMOID(of_update, update, grad_input=of_update)
            torch.addcmul(of_state, of_state, update, value=-1, out=of_input_part)
            _TANH(of_input_part, row_candidate, grad_input=of_input_part)
            torch.mul(of_input_part, reset, out=of_state_part)
            torch.mul(of_state_part, state_part, out=of_reset)
            of_reset.addcmul_(of_reset, reset, value=-1)
            if step == 0:  # nothing is learnt about the state before the first token
                break
            of_state.mul_(update)
            if low:
                of_state.add_(of_gates.bfloat16() @ back)
            else:
                of_state.addmm_(of_gates, back)
        of_state_weights, of_state_bias = _summed(gradients[n:], before[n:]), gradients.sum(0)
        # For the inputs only the candidate's part differs.
        gradients[:, 2 * size :] = of_candidate
        of_bias = torch.cat([of_state_bias[: 2 * size], of_candidate.sum(0)])
        of_values, of_weights = _times(gradients, weights), _summed(gradients, values)
        return of_values, of_weights, of_state_weights, of_bias, of_state_bias, None, None


class Layer(torch.autograd.Function):  # type: ignore[misc] # mypy does not read PyTorch
    """A tanh layer or a linear one. Backwards it leaves what the gradients of its parameters are made of."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, weights: Tensor, bias: Tensor, is_tanh: bool, left: list[Any]) -> Tensor:
        outputs = torch.addmm(bias, values, weights.view(len(bias), -1).t())
        if is_tanh:
            outputs.tanh_()
        ctx.save_for_backward(values, weights, bias, outputs)
        ctx.is_tanh, ctx.left = is_tanh, left
        return outputs

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:
        values, weights, bias, outputs = ctx.saved_tensors
        if ctx.is_tanh:
            upstream = torch.ops.aten.tanh_backward(upstream, outputs)
        ctx.left.append((weights, bias, upstream, values.detach()))
        return upstream @ weights.view(len(bias), -1), None, None, None, None


class Places:
    """`Packed` sequences as the network reads them."""

    def __init__(self, sequences: Sequence[Ints]) -> None:
        packed = Packed.of(sequences)
        counts = np.array(packed.counts)
        starts = np.cumsum([0, *counts])
        self.ids = torch.from_numpy(packed.ids)
        self.counts = packed.counts
        # For every token but the first of each sequence, the row of the token before.
        self.previous = torch.from_numpy(np.arange(counts[0], starts[-1]) - np.repeat(counts[:-1], counts[1:]))
        lengths = np.array([len(each) for each in sequences])
        self.last = torch.from_numpy(starts[lengths - 1] + packed.slots)
        self.order = torch.from_numpy(np.argsort(packed.slots))


class Network(nn.Module):  # type: ignore[misc] # mypy does not read PyTorch
    """Encoders, tanh layers and a linear prediction.

    What can be learnt apart is: each `side` up to the first sum over both, and the layers behind it.
    """

    def __init__(self, options: QualityOptions, vocabulary: Vocabulary, mean: float, seed: int) -> None:
        super().__init__()
        self.options = options
        self.has_halves = options.combination == "joined" and options.tanh_layers > 0
        self._of_layers: list[tuple[Tensor, ...]] = []  # weights, bias, gradient of the outputs, inputs
        generator = torch.Generator().manual_seed(seed)
        size = options.embedding
        words = dict(zip(SIDES, (vocabulary.sources, vocabulary.outputs), strict=True))
        for side in SIDES:
            name = encoder_name(options, side)
            if f"{name}_embedding" in self._parameters:
                continue
            embedding = torch.empty(len(words[side]) + 1, size).normal_(generator=generator)
            embedding[0] = 0.0
            self._add(f"{name}_embedding", embedding)
            for layer in range(options.layers):
                rows = GATES[options.cell] * size
                for part, shape in zip(ENCODER_PARTS, ((rows, size), (rows, size), (rows,), (rows,)), strict=True):
                    self._add(f"{name}_{part}_{layer}", _uniform(shape, size, generator))
        width = 2 * size if options.combination == "joined" else size
        for name in heads(options):
            for layer in range(options.tanh_layers):
                whole = {f"{name}_tanh_weights_{layer}": _uniform((width, width), width, generator)}
                for part, values in self._parts(whole).items():
                    self._add(part, values.clone())
                self._add(f"{name}_tanh_bias_{layer}", _uniform((width,), width, generator))
            self._add(f"{name}_last_weights", _uniform((width,), width, generator))
            self._add(f"{name}_last_bias", torch.tensor([mean]))

    def _add(self, name: str, values: Tensor) -> None:
        self.register_parameter(name, nn.Parameter(values))

    def _parts(self, arrays: Mapping[str, Any]) -> dict[str, Any]:
        """Return arrays, or tensors, with the halves of the first layer in place of the whole."""
        if not self.has_halves or JOINED not in arrays:
            return dict(arrays)
        size = self.options.embedding
        halves = {_half(side): arrays[JOINED][:, at * size : (at + 1) * size] for at, side in enumerate(SIDES)}
        return {name: values for name, values in arrays.items() if name != JOINED} | halves

    def side_parameters(self, side: str) -> list[str]:
        """Return the names of the parameters of `side`."""
        name, layers = encoder_name(self.options, side), range(self.options.layers)
        names = [f"{name}_embedding", *(f"{name}_{part}_{layer}" for layer in layers for part in ENCODER_PARTS)]
        if not self.has_halves:
            return names
        return [*names, _half(side), JOINED_BIAS] if side == SIDES[0] else [*names, _half(side)]

    def head_parameters(self) -> list[str]:
        """Return the names of the parameters of no side."""
        of_sides = {name for side in SIDES for name in self.side_parameters(side)}
        return [name for name in self._parameters if name not in of_sides]

    def forward(self, sources: Places, outputs: Places, rng: np.random.Generator | None = None) -> Tensor:
        """Return predictions (heads, n); with a generator, encoder inputs are dropped at random."""
        both = zip(SIDES, (sources, outputs), strict=True)
        return self.from_sides([self.side(side, places, rng and self.mask(places, rng)) for side, places in both])

    def mask(self, places: Places, rng: np.random.Generator) -> Tensor | None:
        """Draw what encoder inputs are multiplied by, for dropout."""
        if not self.options.dropout:
            return None
        return torch.from_numpy(kept((len(places.ids), self.options.embedding), self.options.dropout, rng))

    def from_sides(self, values: Sequence[Tensor]) -> Tensor:
        """Return predictions (heads, n) from what sources and outputs come to."""
        if not self.has_halves:
            inputs = values if self.options.combination == "apart" else [torch.cat(list(values), dim=1)]
            named = zip(heads(self.options), inputs, strict=True)
            return torch.stack([self._head(name, each, 0) for name, each in named])
        [name] = heads(self.options)
        return self._head(name, (values[0] + values[1]).tanh(), 1)[None]

    def side(self, side: str, places: Places, mask: Tensor | None = None) -> Tensor:
        """Return final states (n, h), or what a half of the first layer makes of them, (n, 2h)."""
        states = self.final_states(side, places, mask)
        if not self.has_halves:
            return states
        bias = self.get_parameter(JOINED_BIAS) if side == SIDES[0] else None
        return functional.linear(states, self.get_parameter(_half(side)), bias)

    def final_states(self, side: str, places: Places, mask: Tensor | None = None) -> Tensor:
        """Return an encoder's final states (n, h), in the order of the sequences."""
        name = encoder_name(self.options, side)
        # Row 0 is for unknown words: all zeros, and never learnt.
        values = functional.embedding(places.ids, self.get_parameter(f"{name}_embedding"), padding_idx=0)
        if mask is not None:
            values = values * mask
        for layer in range(self.options.layers):
            parts = [self.get_parameter(f"{name}_{part}_{layer}") for part in ENCODER_PARTS]
            is_last = layer == self.options.layers - 1
            layer_of = Gru.apply if self.options.cell == "gru" else self._lstm
            values = layer_of(values, *parts, places, is_last)
        return values

    @staticmethod
    def _lstm(values: Tensor, *arguments: Any) -> Tensor:
        *parts, places, is_last = arguments
        counts = torch.tensor(places.counts)
        zeros = values.new_zeros(1, places.counts[0], parts[1].shape[1])
        states: Tensor = torch._VF.lstm(values, counts, (zeros, zeros), parts, True, 1, 0.0, False, False)[0]  # noqa: SLF001 # what nn.LSTM calls, without a module of its own
        return states[places.last] if is_last else states

    def _head(self, name: str, states: Tensor, first_layer: int) -> Tensor:
        for layer in range(first_layer, self.options.tanh_layers):
            states = self._layer(states, f"{name}_tanh_weights_{layer}", f"{name}_tanh_bias_{layer}", True)
        return self._layer(states, f"{name}_last_weights", f"{name}_last_bias", False)[:, 0]

    def _layer(self, values: Tensor, weights: str, bias: str, is_tanh: bool) -> Tensor:
        parameters = self.get_parameter(weights), self.get_parameter(bias)
        return Layer.apply(values, *parameters, is_tanh, self._of_layers)

    def finish_head(self) -> None:
        """Set the gradients of the layers over final states: no gradient of a state waits for them."""
        for weights, bias, gradient, values in self._of_layers:
            weights.grad, bias.grad = (gradient.t() @ values).view_as(weights), gradient.sum(0)
        self._of_layers.clear()

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return a copy of all parameters, as `QualityEstimator.arrays` has them."""
        arrays = self.parameter_arrays(self._parameters)
        if self.has_halves:
            arrays[JOINED] = np.concatenate([arrays.pop(_half(side)) for side in SIDES], axis=1)
        return arrays

    def parameter_arrays(self, names: Iterable[str]) -> dict[str, NDArray[Any]]:
        """Return a copy of some parameters."""
        return {name: self.get_parameter(name).detach().numpy().copy() for name in names}

    def set_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Set all parameters, or some."""
        with torch.no_grad():
            for name, values in self._parts(arrays).items():
                each = self.get_parameter(name)
                each.copy_(torch.from_numpy(np.array(values).reshape(each.shape)))


class Optimizer:
    """Adam over a network's parameters, or some, with a state that can be written down.

    The step is PyTorch's own, fused: `torch.optim` calls it after it has imported a compiler, which takes seconds.

    References
    ----------
    Kingma and Ba: Adam: a method for stochastic optimization. ICLR 2015, algorithm 1.
    """

    def __init__(self, network: Network, names: Sequence[str] | None = None) -> None:
        self._network = network
        self._rate = network.options.learning_rate
        of_all = dict(network.named_parameters())
        self._is_of_all = names is None
        self._parameters = of_all if names is None else {name: of_all[name] for name in names}
        self._state = {
            name: {
                "exp_avg": torch.zeros_like(parameter),
                "exp_avg_sq": torch.zeros_like(parameter),
                "step": torch.zeros(()),
            }
            for name, parameter in self._parameters.items()
        }

    def step(self, values: Tensor, gradient: Tensor | None = None) -> None:
        """Make a step by the gradient of a loss, or by that of the values which a loss is of."""
        for parameter in self._parameters.values():
            parameter.grad = None
        torch.autograd.backward(values, gradient, inputs=list(self._parameters.values()))
        if self._is_of_all:
            self._network.finish_head()
        self.apply()

    def apply(self) -> None:
        """Make a step by the gradients that the parameters have."""
        names = [name for name, parameter in self._parameters.items() if parameter.grad is not None]
        lists = {key: [self._state[name][key] for name in names] for key in ("exp_avg", "exp_avg_sq", "step")}
        with torch.no_grad():
            torch._foreach_add_(lists["step"], 1)
            torch._fused_adam_(
                [self._parameters[name] for name in names],
                [self._parameters[name].grad for name in names],
                lists["exp_avg"],
                lists["exp_avg_sq"],
                [],
                lists["step"],
                lr=self._rate,
                beta1=BETAS[0],
                beta2=BETAS[1],
                weight_decay=0.0,
                eps=EPSILON,
                amsgrad=False,
                maximize=False,
            )

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return a copy of the state."""
        return {
            f"{name}.{key}": value.detach().numpy().copy()
            for name, state in self._state.items()
            for key, value in state.items()
        }

    def set_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        for name, state in self._state.items():
            for key in state:
                state[key] = torch.from_numpy(np.array(arrays[f"{name}.{key}"]).reshape(state[key].shape))


def _times(rows: Tensor, matrix: Tensor) -> Tensor:
    """Return the product of many rows (N, k) with a matrix (k, m), of bfloat16 within `in_one_thread("bfloat16")`."""
    return (_low_rows(rows) @ matrix.bfloat16())[: len(rows)].float() if _is_low(rows) else rows @ matrix


def _plus_times(bias: Tensor, rows: Tensor, matrix: Tensor, out: Tensor) -> None:
    """Write the sum of a bias (m) and the product of rows (N, k) with a matrix (k, m) to ``out``; as `_times`."""
    if _is_low(rows):
        torch.add(_times(rows, matrix), bias, out=out)
    else:
        torch.addmm(bias, rows, matrix, out=out)


def _summed(first: Tensor, second: Tensor) -> Tensor:
    """Return the product (k, m) of rows (N, k), transposed, and (N, m); of bfloat16 as `_times`."""
    return (_low_rows(first).t() @ _low_rows(second)).float() if _is_low(first) else first.t() @ second


def _low_rows(rows: Tensor) -> Tensor:
    """Return rows in bfloat16, with zeros below: for each number of rows code is compiled, so there are to be few."""
    padded = rows.new_zeros(-(-len(rows) // _ROWS) * _ROWS, rows.shape[1], dtype=torch.bfloat16)
    padded[: len(rows)] = rows
    return padded


def _is_low(values: Tensor) -> bool:
    return bool(torch.get_float32_matmul_precision() == "medium" and values.dtype == torch.float32)


def squared_error(predictions: Tensor, ratings: Floats) -> Tensor:
    """Return the mean squared error of predictions (heads, n), summed over heads."""
    targets = torch.from_numpy(ratings.astype(np.float32))
    return ((predictions - targets) ** 2).mean(dim=1).sum()


def rank_loss(better: Tensor, worse: Tensor) -> Tensor:
    """Return the mean hinge loss of pairs (heads, n): 0 where the better output scores a point above the worse.

    References
    ----------
    Dušek, Sevegnani, Konstas and Rieser: Automatic quality estimation for natural language generation: ranting (jointly
    rating and ranking). INLG 2019, section 3.
    """
    return functional.relu(1 - (better - worse)).mean(dim=1).sum()


@contextmanager
def in_one_thread(precision: str) -> Iterator[None]:
    """Compute in one thread, for the same results with any number of cores, with matrix products of this precision.

    Small products take longer in several threads than in one; several trainings at once use several cores.
    """
    threads, before = torch.get_num_threads(), torch.get_float32_matmul_precision()
    torch.set_num_threads(1)
    torch.set_float32_matmul_precision("medium" if precision == "bfloat16" else "highest")
    try:
        yield
    finally:
        torch.set_num_threads(threads)
        torch.set_float32_matmul_precision(before)


def kept(shape: tuple[int, ...], dropout: float, rng: np.random.Generator) -> Float32s:
    """Return zeros with this probability, to the nearest of 65,536, else the number that leaves the mean as it is.

    Four decisions a random number, in an eighth of the time that PyTorch takes.
    """
    of_all = math.prod(shape)
    drawn = rng.integers(2**64 - 1, size=-(-of_all // 4), dtype=np.uint64, endpoint=True).view(np.uint16)
    is_kept = (drawn[:of_all] >= round(dropout * 65536)).reshape(shape)
    return np.multiply(is_kept, np.float32(1 / (1 - dropout)), dtype=np.float32)


def _half(side: str) -> str:
    return f"{side}_half"


def _uniform(shape: tuple[int, ...], inputs: int, generator: torch.Generator) -> Tensor:
    """Draw weights as PyTorch does for layers of this many inputs."""
    bound = 1 / math.sqrt(inputs)
    return torch.empty(shape).uniform_(-bound, bound, generator=generator)

"""exp, sigmoid, tanh and their kin as vector code: what ``cells.functions`` means on vectors.

Every function holds over the whole range: infinities, both zeros, NaN in gives NaN out. A result
below the smallest normal number may be 0, and ``log`` takes a subnormal argument for 0, as the
kernels' flush-to-zero mode has it. Largest errors found, in units of the last place of the result
(float32, float64; tests/kernels/test_functions.py): exp 1.1, 1.1; log 0.9, 0.9; sigmoid 2.0, 2.0;
tanh 1.9, 2.2; log_sigmoid 1.7, 1.7. sqrt, maximum, minimum and absolute are exact.

Two reductions carry all of it: exp x = 2^n exp r with |r| <= log(2) / 2, and
log x = k log 2 + log(1 + f) with 1 + f in [sqrt(1/2), sqrt(2)).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tidegate.cells.functions import register
from tidegate.kernels.code import vector
from tidegate.kernels.code.vector import SINGLE, Bits, Vector, intrinsic

__all__ = [
    "absolute",
    "choose",
    "exp",
    "log",
    "log_sigmoid",
    "maximum",
    "minimum",
    "sigmoid",
    "sqrt",
    "tanh",
]

_LOG2_E = 1.4426950408889634


@dataclass(frozen=True)
class _Constants:
    """What differs between the two precisions.

    The polynomials are minimax fits, relative to the function, made by Remez exchange in
    60 digits: tests/kernels/test_functions.py makes them again.

    Attributes:
        log2: log 2 as a part whose multiples are exact, and the rest.
        exp_range: arguments outside give 0 and infinity.
        sigmoid_range: arguments of exp(-x) outside change nothing above the smallest number.
        tanh_limit: tanh rounds to 1 from here on.
        expm1: p in expm1 r = r + r^2 p(r).
        log1p: p in log(1 + f) = f - f^2 / 2 + f^3 p(f).
    """

    log2: tuple[float, float]
    exp_range: tuple[float, float]
    sigmoid_range: tuple[float, float]
    tanh_limit: float
    smallest: float
    expm1: tuple[float, ...]
    log1p: tuple[float, ...]


_SINGLE = _Constants(
    log2=(0.693359375, -2.12194440e-4),
    exp_range=(-87.33654, 88.72283),
    sigmoid_range=(-87.0, 88.0),
    tanh_limit=9.02,
    smallest=2.0**-126,
    # fmt: off
    expm1=(
        0.5,
        0.166666672,
        0.0416662693,
        0.00833326485,
        0.00139460748,
        0.000199183123,
    ),
    log1p=(
        0.333333105,
        -0.249999866,
        0.200022265,
        -0.16669251,
        0.142186612,
        -0.123843506,
        0.118729569,
        -0.117897913,
        0.0691539273,
    ),
    # fmt: on
)
_DOUBLE = _Constants(
    log2=(0.693147180369123816490, 1.90821492927058770002e-10),
    exp_range=(-708.3964185322641, 709.782712893384),
    sigmoid_range=(-708.0, 709.0),
    tanh_limit=19.07,
    smallest=2.0**-1022,
    # fmt: off
    expm1=(
        0.500000000000001,
        0.16666666666666674,
        0.04166666666652199,
        0.008333333333322207,
        0.0013888888947820891,
        0.00019841269886591,
        2.4801487326012337e-05,
        2.7557242336680357e-06,
        2.763265575933203e-07,
        2.5110049895858716e-08,
    ),
    log1p=(
        0.3333333333333334,
        -0.250000000000004,
        0.199999999999954,
        -0.16666666666539584,
        0.14285714286356666,
        -0.1250000001529581,
        0.11111111074659827,
        -0.09999999046835252,
        0.09090909808395888,
        -0.08333367923902095,
        0.07692322054716765,
        -0.07142094807526177,
        0.06665634622439645,
        -0.06260058225862909,
        0.059049013218101715,
        -0.05484083393392472,
        0.050171039601619505,
        -0.05157360998017456,
        0.06061931737445604,
        -0.05495855984244096,
        0.023141931898728048,
    ),
    # fmt: on
)


def _constants(x: Vector) -> _Constants:
    return _SINGLE if x.precision == SINGLE else _DOUBLE


def exp(x: Vector) -> Vector:
    """e to the power of x."""
    lowest, highest = _constants(x).exp_range
    rest, power = _expm1_reduced(x)
    inside = ((rest + 1.0).bits() + power).real()
    # The second choice holds for x above the range, infinite, or NaN.
    below_infinity = (x <= highest).select(inside, x + float("inf"))
    return (x < lowest).select(x.like(0.0), below_infinity)


def sigmoid(x: Vector) -> Vector:
    """1 / (1 + exp(-x)); 1 - sigmoid(x) is sigmoid(-x)."""
    lowest, highest = _constants(x).sigmoid_range
    argument = _within(-x, lowest, highest)
    rest, power = _expm1_reduced(argument)
    scale = (x.like(1.0).bits() + power).real()
    return 1.0 / (scale.fma(rest, 1.0) + scale)


def tanh(x: Vector) -> Vector:
    """The hyperbolic tangent, from expm1(-2 |x|): relatively accurate near 0 as well."""
    limit = -2.0 * _constants(x).tanh_limit
    argument = absolute(x) * -2.0
    rest, power = _expm1_reduced((argument < limit).select(x.like(limit), argument))
    scale = (x.like(1.0).bits() + power).real()
    return _with_sign(scale.fma(rest, scale - 1.0) / scale.fma(rest, scale + 1.0), x)


def log(x: Vector) -> Vector:
    """The natural logarithm."""
    half_root = x.like(0.5**0.5).bits()
    away = x.bits() - half_root
    mantissa = x.precision.mantissa
    count = away >> mantissa
    reduced = (x.bits() - (count << mantissa)).real() - 1.0
    inside = _log1p_reduced(reduced, _as_real(count, x))
    finite = (x < float("inf")).select(inside, x)
    positive = (x < _constants(x).smallest).select(x.like(float("-inf")), finite)
    return (x < 0.0).select(x.like(float("nan")), positive)


def log_sigmoid(x: Vector) -> Vector:
    """log sigmoid(x) = min(x, 0) - log(1 + exp(-|x|)), exact where the gate rounds to 1."""
    small = exp(-absolute(x))
    large = small > 2.0**0.5 - 1.0
    reduced = large.select((small - 1.0) * 0.5, small)
    halvings = large.select(x.like(1.0), x.like(0.0))
    return minimum(x, 0.0) - _log1p_reduced(reduced, halvings)


def sqrt(x: Vector) -> Vector:
    """The square root; NaN below 0."""
    return Vector(x.builder, intrinsic(x.builder, "sqrt", x.raw))


def absolute(x: Vector) -> Vector:
    """The value without its sign."""
    return Vector(x.builder, intrinsic(x.builder, "fabs", x.raw))


def maximum(x: Vector | float, y: Vector | float) -> Vector:
    """The larger of two values; NaN where either is."""
    return vector.maximum(*_lifted(x, y))


def minimum(x: Vector | float, y: Vector | float) -> Vector:
    """The smaller of two values; NaN where either is."""
    return vector.minimum(*_lifted(x, y))


def choose(x: Vector | float, y: Vector | float, yes: Vector | float, no: Vector | float) -> Vector:
    """``yes`` where x >= y, else ``no``."""
    x, y, yes, no = _lifted(x, y, yes, no)
    return (x >= y).select(yes, no)


def _expm1_reduced(x: Vector) -> tuple[Vector, Bits]:
    """expm1 r and n, as an addend to an exponent, where x = n log 2 + r.

    The sum with 1.5 * 2^mantissa rounds to a whole number and leaves it in the low bits; no
    conversion to an integer, so NaN goes through.
    """
    constants, mantissa = _constants(x), x.precision.mantissa
    high, low = constants.log2
    shifted = x.fma(_LOG2_E, 1.5 * 2.0**mantissa)
    count = shifted - 1.5 * 2.0**mantissa
    r = count.fma(-low, count.fma(-high, x))
    square = r * r
    return square.fma(_polynomial(r, square, constants.expm1), r), shifted.bits() << mantissa


def _log1p_reduced(f: Vector, count: Vector) -> Vector:
    """log(1 + f) + count log 2, for 1 + f in [sqrt(1/2), sqrt(2))."""
    high, low = _constants(f).log2
    square = f * f
    p = _polynomial(f, square, _constants(f).log1p)
    rest = (f * square).fma(p, square * -0.5)
    return count.fma(high, count.fma(low, rest) + f)


def _polynomial(x: Vector, square: Vector, coefficients: Sequence[float]) -> Vector:
    """The sum of coefficients[k] x^k by Estrin's scheme: a chain of logarithmic length."""
    terms: list[Vector | float] = list(coefficients)
    power = x
    while len(terms) > 1:
        pairs = [power.fma(high, low) for low, high in zip(terms[::2], terms[1::2], strict=False)]
        terms = [*pairs, *terms[2 * len(pairs) :]]
        power = square if power is x else power * power
    return x.matched(terms[0])[1]


def _as_real(count: Bits, like: Vector) -> Vector:
    """Small whole numbers as floating-point ones, by the bits of a large number."""
    large = like.like(1.5 * 2.0**like.precision.mantissa)
    return (large.bits() + count).real() - large


def _within(x: Vector, lowest: float, highest: float) -> Vector:
    """The nearest number of a range; NaN stays."""
    not_below = (x < lowest).select(x.like(lowest), x)
    return (not_below > highest).select(x.like(highest), not_below)


def _with_sign(size: Vector, sign: Vector) -> Vector:
    return Vector(size.builder, intrinsic(size.builder, "copysign", size.raw, sign.raw))


def _lifted(*values: Vector | float) -> list[Vector]:
    """All as vectors of the width of the widest."""
    widest = max((v for v in values if isinstance(v, Vector)), key=lambda v: v.width)
    return [widest.matched(value)[1] for value in values]


_FORMS: dict[str, Callable[..., Vector]] = {
    "sigmoid": sigmoid,
    "tanh": tanh,
    "exp": exp,
    "log": log,
    "sqrt": sqrt,
    "log_sigmoid": log_sigmoid,
    "absolute": absolute,
    "maximum": maximum,
    "minimum": minimum,
    "choose": choose,
    "fixed": lambda x: x,
}
register(Vector, _FORMS)

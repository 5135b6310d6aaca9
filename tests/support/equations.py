"""Cells once more, as their papers and torch's pages print them, in NumPy and scipy alone.

Nothing here knows of ``cells.functions``. ``z``, ``past`` and ``par`` are dicts of arrays; the
result holds new memories and hidden values by name.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit


def rnn(z, past, par):
    return {"h": np.tanh(z["n"])}


def lstm1997(z, past, par):
    c = past["c"] + expit(z["i"]) * np.tanh(z["g"])
    return {"c": c, "h": expit(z["o"]) * np.tanh(c)}


def lstm(z, past, par):
    c = expit(z["f"]) * past["c"] + expit(z["i"]) * np.tanh(z["g"])
    return {"c": c, "h": expit(z["o"]) * np.tanh(c)}


def gru(z, past, par):
    n = np.tanh(z["n_x"] + expit(z["r"]) * z["n_h"])
    return {"h": (1 - expit(z["z"])) * n + expit(z["z"]) * past["h"]}


def update_gate(z, past, par):
    gate = expit(z["z"])
    return {"h": (1 - gate) * past["h"] + gate * np.tanh(z["n"])}


def mgu(z, past, par):
    f = expit(z["f"])
    return {"h": (1 - f) * past["h"] + f * np.tanh(z["n"])}


def peephole(z, past, par):
    i = expit(z["i"] + par["p_i"] * past["c"])
    f = expit(z["f"] + par["p_f"] * past["c"])
    c = f * past["c"] + i * np.tanh(z["g"])
    return {"c": c, "h": expit(z["o"] + par["p_o"] * c) * np.tanh(c)}


def block2000(z, past, par):
    i, f, o = expit(z["i"]), expit(z["f"]), expit(z["o"])
    new = {}
    for k in "12":
        c = f * past[f"c{k}"] + i * (4 / (1 + np.exp(-z[f"g{k}"])) - 2)
        new |= {f"c{k}": c, f"h{k}": o * (2 / (1 + np.exp(-c)) - 1)}
    return new


def slstm(z, past, par):
    m = np.maximum(z["f"] + past["m"], z["i"])
    i, f = np.exp(z["i"] - m), np.exp(z["f"] + past["m"] - m)
    c, n = f * past["c"] + i * np.tanh(z["z"]), f * past["n"] + i
    return {"c": c, "n": n, "m": m, "h": expit(z["o"]) * c / n}


def recalling(z, past, par):
    f = expit(z["f"])
    c = f * past["c"] + (1 - f) * np.tanh(z["g"])
    return {"c": c, "h": np.tanh(c + par["w"] * past["c"]) * expit(z["o"])}


def own_output(z, past, par):
    f = expit(z["f"] + par["u_f"] * past["h"])
    c = f * past["c"] + (1 - f) * np.tanh(z["g"] + par["u_g"] * past["h"])
    return {"c": c, "h": np.tanh(c)}


def delay(z, past, par):
    c = expit(z["f"]) * past["c"] + np.tanh(z["g"])
    return {"c": c, "d": past["c"], "h": np.tanh(c + par["w"] * past["c"]) * past["d"]}


PUBLISHED = {
    "RNN": rnn,
    "LSTM1997": lstm1997,
    "LSTM": lstm,
    "GRU": gru,
    "UpdateGate": update_gate,
    "ShapedGRU": gru,
    "MGU": mgu,
    "Peephole": peephole,
    "Block2000": block2000,
    "SLSTM": slstm,
    "Recalling": recalling,
    "OwnOutput": own_output,
    "Delay": delay,
}

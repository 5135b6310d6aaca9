"""Synthetic tasks: streams made on the spot, of which everything is known.

>>> from tidegate._core.discovery import members
>>> sorted(members("tidegate.tasks", Task))
['copying', 'parity', 'reber', 'recent_one', 'temporal_order', 'unmarked_reber']
"""

from tidegate.tasks.arrays import one_hot
from tidegate.tasks.base import Block, State, Step, Stream, Task
from tidegate.tasks.copying import Copying
from tidegate.tasks.criterion import correct
from tidegate.tasks.parity import Parity
from tidegate.tasks.reber import Reber, UnmarkedReber
from tidegate.tasks.recent_one import RecentOne
from tidegate.tasks.temporal_order import TemporalOrder

__all__ = [
    "Block",
    "Copying",
    "Parity",
    "Reber",
    "RecentOne",
    "State",
    "Step",
    "Stream",
    "Task",
    "TemporalOrder",
    "UnmarkedReber",
    "correct",
    "one_hot",
]

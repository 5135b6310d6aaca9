"""Synthetic tasks: streams made on the spot, of which everything is known.

>>> from tidegate._core.discovery import members
>>> sorted(members("tidegate.tasks", Task))
['reber', 'recent_one', 'unmarked_reber']
"""

from tidegate.tasks.arrays import one_hot
from tidegate.tasks.base import Block, State, Step, Stream, Task
from tidegate.tasks.criterion import correct
from tidegate.tasks.reber import Reber, UnmarkedReber
from tidegate.tasks.recent_one import RecentOne

__all__ = [
    "Block",
    "Reber",
    "RecentOne",
    "State",
    "Step",
    "Stream",
    "Task",
    "UnmarkedReber",
    "correct",
    "one_hot",
]

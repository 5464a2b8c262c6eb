"""Vitality and retention of personal and pool memories (M26-M30)."""

import math
from datetime import UTC, datetime, timedelta
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from chalicelib.domain.clock import DAY, days_between
from chalicelib.domain.memory import Memory

_LAST = datetime(9999, 12, 31, 23, 59, 59, 999_000, tzinfo=UTC)

HalfLife = Annotated[float, Field(ge=0.1, le=365, allow_inf_nan=False, strict=True)]


class Retention(BaseModel):
    """M29: what an admin may set. `half_lives[i]` are days for importance i + 1."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    automatic: Annotated[bool, Field(strict=True)] = True
    grace_days: Annotated[int, Field(ge=0, le=365, strict=True)] = 14
    threshold: Annotated[float, Field(ge=1, le=90, allow_inf_nan=False, strict=True)] = 10
    daily_limit: Annotated[int, Field(ge=1, le=200, strict=True)] = 5
    half_lives: Annotated[tuple[HalfLife, ...], Field(min_length=10, max_length=10)] = (
        1, 3, 7, 14, 21, 30, 45, 60, 90, 180,
    )  # fmt: skip


def _strength(memory: Memory) -> float:
    return 50 + 50 * memory.use_count / (memory.use_count + 5)


def _half_life(memory: Memory, retention: Retention) -> float:
    return retention.half_lives[(memory.importance or 5) - 1]


def _since(memory: Memory) -> datetime:
    return memory.last_used_at or memory.recorded_at


def vitality(memory: Memory, now: datetime, retention: Retention) -> float:
    """0-100: `100 * (0.5 + 0.5 n/(n+5)) * 0.5^(d/h)` (M26). A never-recalled memory starts at 50."""
    return _strength(memory) * math.pow(
        0.5, days_between(_since(memory), now) / _half_life(memory, retention)
    )


def eligible_at(memory: Memory, retention: Retention) -> datetime:
    """When cleanup may trash it: vitality under the threshold and the grace period over, however far (M30);
    at most the last moment that there is."""
    days = _half_life(memory, retention) * max(0.0, math.log2(_strength(memory) / retention.threshold))
    faded = _after(_since(memory), timedelta(seconds=days * DAY))
    return max(faded, _after(memory.recorded_at, timedelta(days=retention.grace_days)))


def _after(moment: datetime, elapsed: timedelta) -> datetime:
    return moment + elapsed if elapsed < _LAST - moment else _LAST

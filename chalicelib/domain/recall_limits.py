"""How much is recalled, and what counts as related (M19, M23)."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False, strict=True)]
Cosine = Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False, strict=True)]


class RecallLimits(BaseModel):
    """M19: what one turn is given at most. An admin may set 0-50 memories and 1,000-100,000 bytes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    memories: Annotated[int, Field(ge=0, le=50, strict=True)] = 10
    bytes: Annotated[int, Field(ge=1_000, le=100_000, strict=True)] = 20_000


class Thresholds(BaseModel):
    """M23: related by meaning (cosine) or words (share of the query's stems); alike by meaning or words."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    relevance_meaning: Cosine
    relevance_words: Share
    duplicate_meaning: Cosine
    duplicate_words: Share

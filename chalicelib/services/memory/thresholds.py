"""Which thresholds hold: the admin's for this embedding model, else the model's measured defaults (M23)."""

from dataclasses import dataclass

from chalicelib.domain.accounts import Installation
from chalicelib.domain.embedding import EmbeddingModel
from chalicelib.domain.recall_limits import Thresholds
from chalicelib.ports import AccountStore

WORDS = "words"
"""The name under which the thresholds without an embedding model are kept."""
RELEVANT_SHARE = 0.33
DUPLICATE_SHARE = 0.6


@dataclass(frozen=True)
class ThresholdsInForce:
    """Looks them up."""

    accounts: AccountStore
    model: EmbeddingModel | None

    def of(self, fingerprint: str | None) -> Thresholds:
        """The thresholds for answers made with this model (None: by words)."""
        return self._of(fingerprint, self.accounts.installation())

    def listed(self, installation: Installation) -> dict[str, Thresholds]:
        """What holds under these settings, by the fingerprint of the model in use and for `words`."""
        models = [self.model.fingerprint] if self.model else []
        return {
            **{model: self._of(model, installation) for model in models},
            WORDS: self._of(None, installation),
        }

    def _of(self, fingerprint: str | None, installation: Installation) -> Thresholds:
        saved = installation.thresholds.get(fingerprint or WORDS)
        if saved is not None:
            return saved
        by_meaning = self.model if self.model is not None and fingerprint == self.model.fingerprint else None
        return Thresholds(
            relevance_meaning=by_meaning.relevance if by_meaning else 1,
            relevance_words=RELEVANT_SHARE,
            duplicate_meaning=by_meaning.duplicate if by_meaning else 1,
            duplicate_words=DUPLICATE_SHARE,
        )

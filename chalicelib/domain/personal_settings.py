"""What a person switches on or off for themselves (S1, M22). A change holds from the next turn on."""

from pydantic import BaseModel, ConfigDict

from chalicelib.domain.accounts import Account


class PersonalSettings(BaseModel):
    """All of S1, with its defaults. An account keeps only what was set by hand, so defaults may change later."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    search_every_message: bool = True
    search_while_working: bool = True
    save_after_answers: bool = False
    maintenance: bool = False
    skill_learning: bool = False

    @classmethod
    def of(cls, account: Account) -> "PersonalSettings":
        """The settings of an account; what this version does not know is passed over."""
        return cls(**{name: value for name, value in account.settings.items() if name in cls.model_fields})

"""Who is asking: an API key, or a token of the OIDC provider, becomes a `Caller`; anything else is refused.

Every refusal of a credential reads the same, so nobody learns whether a key exists, was revoked or has expired.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated

from pydantic import Field, TypeAdapter, ValidationError

from chalicelib.domain.account_drafts import Email
from chalicelib.domain.accounts import Account, AccountCommit, ApiKey, AuditEntry, EntityWrite, Login, Name
from chalicelib.domain.api_keys import hash_secret, parse, secret_fits
from chalicelib.domain.ids import new_id
from chalicelib.domain.scope import Place
from chalicelib.domain.text_rules import Line
from chalicelib.errors import (
    IdentityProviderUnavailableError,
    StaleVersionError,
    StoreUnavailableError,
    UnauthenticatedError,
    UnavailableError,
)
from chalicelib.ports import AccountStore, TokenVerifier
from chalicelib.services.accounts.access import Caller
from chalicelib.services.accounts.keys import full_scopes
from chalicelib.services.accounts.ledger import changed, created

CREDENTIAL_MAX_CHARS = 10_000
USE_NOTED_EVERY = timedelta(minutes=1)

_NO_SECRET = hash_secret("")
_SUBJECT = TypeAdapter[str](Annotated[Line, Field(max_length=500)])
_NAME = TypeAdapter[str](Name)
_EMAIL = TypeAdapter[str](Email)
_LOG = logging.getLogger(__name__)

Claims = Mapping[str, object]


@dataclass(frozen=True)
class OidcRules:
    """What an identity of the OIDC provider is to us."""

    issuer: str
    create_accounts: bool = False
    """Whether an identity that was never seen gets an account; else it is refused."""
    admin_claim: str | None = None
    """When set, the provider decides who is an admin among those who sign in through it, at each sign-in."""
    admin_value: str | None = None
    """What the admin claim must be, or (a list) hold; None: it must be `true`."""


@dataclass(frozen=True)
class SignIn:
    """Checks credentials. `tokens` and `oidc` are None where there is no OIDC provider."""

    accounts: AccountStore
    tokens: TokenVerifier | None = None
    oidc: OidcRules | None = None

    def authenticate(self, header: object, now: datetime, place: Place = "http") -> Caller:
        """The caller behind an `Authorization` header: `Bearer <API key or token>`.

        Raises UnauthenticatedError for everything that does not hold (missing, empty, of another type, mistyped,
        unknown, revoked, expired, of a disabled account), UnavailableError when the provider's keys cannot be had.
        """
        credential = _bearer(header)
        if credential.startswith("plm_"):
            return self._by_key(credential, now, place)
        if self.tokens is None or self.oidc is None:
            raise _refused()
        return self._by_token(credential, self.tokens, self.oidc, now, place)

    def _by_key(self, credential: str, now: datetime, place: Place) -> Caller:
        parsed = parse(credential)
        if parsed is None:
            raise _refused()
        key = self.accounts.key(parsed.id)
        fits = secret_fits(parsed.secret, key.secret_hash if key is not None else _NO_SECRET)
        if key is None or not fits or (key.expires_at is not None and key.expires_at <= now):
            raise _refused()
        account = self._enabled(key.account)
        self._note_use(key, now)
        scopes = key.scopes & full_scopes(account)
        return Caller(account=account, scopes=scopes, acts_as=key.acts_as, key=key.id, place=place)

    def _note_use(self, key: ApiKey, now: datetime) -> None:
        """Note that a key was used, at most once a minute; that it cannot be noted now refuses nobody."""
        if key.last_used_at is not None and now - key.last_used_at < USE_NOTED_EVERY:
            return
        try:
            self.accounts.touch_key(key.id, now)
        except StoreUnavailableError:
            _LOG.warning("the last use of a key could not be noted", extra={"key_id": key.id})

    def _by_token(
        self, token: str, tokens: TokenVerifier, rules: OidcRules, now: datetime, place: Place
    ) -> Caller:
        try:
            claims = tokens.claims(token, now)
        except IdentityProviderUnavailableError as error:
            raise UnavailableError(
                "the identity provider cannot be reached", part="identity_provider"
            ) from error
        subject = _text(_SUBJECT, claims.get("sub")) if claims is not None else None
        if claims is None or subject is None:
            raise _refused()
        login = self.accounts.login(rules.issuer, subject)
        account = (
            self._enabled(login.account) if login is not None else self._newcomer(rules, subject, claims, now)
        )
        account = self._with_admin_of(rules, account, claims, now)
        return Caller(account=account, scopes=full_scopes(account), acts_as="person", key=None, place=place)

    def _newcomer(self, rules: OidcRules, subject: str, claims: Claims, now: datetime) -> Account:
        """An account for an identity that was never seen. It is never joined to an account that is there already:
        an email says who somebody claims to be, not who they are."""
        if not rules.create_accounts:
            raise _refused()
        account = Account(
            id=new_id("acc"),
            name=_name(claims),
            email=_text(_EMAIL, claims.get("email")),
            admin=_is_admin(rules, claims),
            created_at=now,
        )
        login = Login(issuer=rules.issuer, subject=subject, account=account.id, created_at=now)
        try:
            self._write("account.sign_up", account, now, created(account), created(login))
        except StaleVersionError:  # the same person's first two requests came at once
            first = self.accounts.login(rules.issuer, subject)
            if first is None:
                raise _refused() from None
            return self._enabled(first.account)
        return account

    def _with_admin_of(self, rules: OidcRules, account: Account, claims: Claims, now: datetime) -> Account:
        """The account as the provider says it is: an admin or not."""
        admin = _is_admin(rules, claims) if rules.admin_claim is not None else account.admin
        if admin == account.admin:
            return account
        after, write = changed(account, admin=admin)
        try:
            self._write("account.admin_by_provider", after, now, write)
        except StaleVersionError:  # the account changed meanwhile; what the provider says holds all the same
            return self._enabled(account.id).model_copy(update={"admin": admin})
        return after

    def _write(self, op: str, account: Account, now: datetime, *writes: EntityWrite) -> None:
        entry = AuditEntry(
            id=new_id("aud"),
            at=now,
            by=account.id,
            op=op,
            target=f"account:{account.id}",
            details={"admin": account.admin},
        )
        self.accounts.commit(AccountCommit(writes=writes, audit=(entry,)))

    def _enabled(self, account: str) -> Account:
        there = self.accounts.account(account)
        if there is None or there.disabled:
            raise _refused()
        return there


def _bearer(header: object) -> str:
    """The credential in a header. Raises UnauthenticatedError when there is none."""
    if not isinstance(header, str) or not header.strip():
        raise UnauthenticatedError("a credential is needed: Authorization: Bearer <API key or token>")
    scheme, _, credential = header.strip().partition(" ")
    credential = credential.strip()
    good = (
        scheme.lower() == "bearer"
        and credential.isascii()
        and credential.isprintable()
        and " " not in credential
    )
    if not good or not 0 < len(credential) <= CREDENTIAL_MAX_CHARS:
        raise _refused()
    return credential


def _refused() -> UnauthenticatedError:
    return UnauthenticatedError("this credential does not hold")


def _text(rule: TypeAdapter[str], value: object) -> str | None:
    try:
        return rule.validate_python(value, strict=True)
    except ValidationError:
        return None


def _name(claims: Claims) -> str:
    candidates = (_text(_NAME, claims.get(claim)) for claim in ("name", "preferred_username", "email"))
    return next((name for name in candidates if name is not None), "Unnamed")


def _is_admin(rules: OidcRules, claims: Claims) -> bool:
    if rules.admin_claim is None:
        return False
    said = claims.get(rules.admin_claim)
    if rules.admin_value is None:
        return said is True
    return rules.admin_value in said if isinstance(said, list) else said == rules.admin_value

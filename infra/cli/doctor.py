"""`palimpsest doctor`: what is wrong, from this terminal to the last part of the service, and what mends it.

The service is asked, if it answers; otherwise its parts are, by the settings in the environment or the data folder here.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Annotated, Any

import typer
from urllib3.util import parse_url

from chalicelib.errors import DataFolderError
from chalicelib.services.diagnosis import SKEW, in_words
from chalicelib.settings import SettingsError
from infra.cli import direct
from infra.cli.asked import Asked, asked_of
from infra.cli.connection import NOBODY, Destination, found, is_loopback
from infra.cli.failures import (
    CommandError,
    ExitCode,
    NotTrustedError,
    RefusedError,
    UnreachableError,
    Why,
)
from infra.cli.printing import print_json, say, show
from infra.cli.service import Answer, Service
from infra.cli.settings import CliSettings

SOON = timedelta(days=14)
SILENCE_S = 10.0
"""How long a sign of life is waited for."""
DIAGNOSIS_S = 30.0
"""How long the service may look at itself; API Gateway gives up after 29 s."""
NEEDED = ("read", "write")
SETTINGS = "less docs/settings.md"
UNAUTHENTICATED, FORBIDDEN, UNAVAILABLE = 401, 403, 503


@dataclass(frozen=True)
class Found:
    """One thing that is wrong, as the service says it; the command adds the parts `service` and `key`."""

    severity: str
    part: str
    message: str
    fix: str


@dataclass
class Report:
    """What was found, who was asked (`service`; `health`: the service, without an admin's key; `parts`; nobody), and how
    much was compared."""

    url: str | None = None
    asked: str | None = None
    findings: list[Found] = field(default_factory=list)
    compared: Mapping[str, Any] | None = None

    def take(self, answer: Mapping[str, Any], asked: str) -> None:
        """What the service, or its parts, say of themselves."""
        self.asked = asked
        self.findings += [
            Found(one["severity"], one["part"], one["message"], one["fix"]) for one in answer["findings"]
        ]
        self.compared = answer["compared"]

    @property
    def exit_code(self) -> ExitCode:
        """Nothing, a fault, or warnings only."""
        if any(one.severity == "fault" for one in self.findings):
            return ExitCode.FAILED
        return ExitCode.PARTLY if self.findings else ExitCode.DONE


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("doctor")(doctor)


def doctor(
    context: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was found as JSON.")] = False,
) -> None:
    """Find out what is wrong, and which command mends it.

    Ends with 0 when nothing is, 1 when there is a fault, 4 when there are warnings only.
    """
    report = examine(asked_of(context))
    if as_json:
        print_json(json.dumps(asdict(report), ensure_ascii=False))
    else:
        _tell(report)
    raise typer.Exit(report.exit_code)


def examine(asked: Asked) -> Report:
    """Look at the service; where it cannot say, at its parts."""
    report = Report()
    try:
        connection = found(CliSettings.from_environment(), asked.url, insecure=asked.insecure)
    except SettingsError as error:
        report.findings.append(Found("fault", "settings", str(error), "less docs/cli.md"))
        _ask_parts(report)
        return report
    except CommandError as error:
        report.findings.append(Found("fault", "service", str(error), _fix_of(error)))
        _ask_parts(report)
        return report
    report.url = connection.url
    try:
        answered = _ask_service(Service(connection), report)
    except UnreachableError as error:
        report.findings.append(Found("fault", "service", str(error), _start(connection.url, error.why)))
        _ask_parts(report, held=error.why == "silent")
        return report
    if not answered:
        _ask_parts(report, held=True)
    return report


def _fix_of(error: CommandError) -> str:
    if isinstance(error, NotTrustedError):
        return error.fix
    return "make run" if str(error) == NOBODY else "palimpsest login --url URL"


def _ask_service(service: Service, report: Report) -> bool:
    """Whether the service could say what is wrong with it, or its parts need not be asked. Raises UnreachableError."""
    try:
        health = service.ask("GET", "/v1/health", public=True, attempts=1, silence_s=SILENCE_S)
    except RefusedError as error:
        report.findings.append(Found("fault", "service", str(error), _start(service.url)))
        return False
    parts = health.json["parts"]
    report.asked = "health"
    report.findings += _clock(health)
    try:
        if service.connection.key is None:
            report.findings.append(
                Found("fault", "key", f"There is no key for {service.url}.", _login(service.connection))
            )
        else:
            report.findings += _key(service)
            answer = service.ask("GET", "/v1/diagnosis", attempts=1, silence_s=DIAGNOSIS_S)
            report.take(answer.json, "service")
            return True
    except RefusedError as error:
        if error.status != FORBIDDEN:
            report.findings.append(_refused(error, service))
        if error.status == UNAVAILABLE:
            return False
    report.findings += _parts_of_health(parts, service.url)
    return True


def _refused(error: RefusedError, service: Service) -> Found:
    if error.status == UNAUTHENTICATED:
        message = "The service does not take this key: it is mistyped, revoked or expired."
        return Found("fault", "key", message, _login(service.connection))
    if error.status == UNAVAILABLE:
        part = str(error.details.get("part", "service"))
        return Found("fault", part, f"The service says: {error}.", _start(service.url))
    return Found("fault", "service", f"The service says: {error} ({error.status}).", _start(service.url))


def _key(service: Service) -> Iterator[Found]:
    """When the key expires, and what it may not do. Raises RefusedError."""
    me = service.ask("GET", "/v1/me", attempts=1, silence_s=SILENCE_S).json
    login = _login(service.connection)
    lacking = [scope for scope in NEEDED if scope not in me["scopes"]]
    if lacking:
        yield Found("warning", "key", f"The key has no scope {', '.join(lacking)}.", login)
    expires = _expiry(service, me)
    if expires is not None and expires - datetime.now(UTC) < SOON:
        message = (
            f"The key expires on {expires:%Y-%m-%d}: make another one (POST /v1/keys), and log in with it."
        )
        yield Found("warning", "key", message, login)


def _expiry(service: Service, me: Mapping[str, Any]) -> datetime | None:
    if me["key"] is None or me["acts_as"] != "person":
        return None
    keys = [one for page in service.pages("/v1/keys", {"limit": 200}) for one in page.json["items"]]
    said = next((one["expires_at"] for one in keys if one["id"] == me["key"]), None)
    return datetime.fromisoformat(said) if said else None


def _clock(answer: Answer) -> Iterator[Found]:
    """This machine's clock against the service's."""
    try:
        theirs = parsedate_to_datetime(answer.headers["date"])
    except (KeyError, ValueError):
        return
    behind = theirs - datetime.now(UTC)
    if abs(behind) > SKEW:
        where = "behind" if behind > timedelta(0) else "ahead of"
        message = f"This machine's clock is {in_words(behind)} {where} the service's."
        yield Found("warning", "clock", message, "sudo timedatectl set-ntp true")


def _parts_of_health(parts: Mapping[str, str], url: str) -> Iterator[Found]:
    """What is known of the parts without an admin's key."""
    for part, state in parts.items():
        if state in {"down", "missing"}:
            message = f"The {part} is {state}." if state == "missing" else f"The {part} does not answer."
            yield Found("fault", part, message, _start(url))


def _ask_parts(report: Report, *, held: bool = False) -> None:
    """Ask the parts themselves. That there are none here is no further finding; nor, where a service is there that may
    hold them (`held`), that they are held."""
    try:
        with direct.opened() as services:
            report.take(services.diagnosis.look(), "parts")
    except direct.NothingHereError:
        return
    except SettingsError as error:
        report.findings.append(Found("fault", "settings", str(error), SETTINGS))
    except CommandError as error:
        if not (held and isinstance(error.__cause__, DataFolderError)):
            report.findings.append(Found("fault", "table", str(error), "make run"))


def _start(url: str, why: Why = "nobody") -> str:
    """What to do about a service that does not answer as it should: start it, where it is one of this machine that is
    not there; else look at it."""
    if why == "untrusted":
        return "SSL_CERT_FILE=authority.pem palimpsest doctor"
    if is_loopback(url) and not parse_url(url).path:
        return {
            "silent": "stop the process there, then: make run",
            "other": "palimpsest login --url URL",
        }.get(why, "make run")
    return f"curl -sS -m 10 {url}/v1/health"


def _login(connection: Destination) -> str:
    return f"palimpsest login --url {connection.url}"


def _counted(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"


def _tell(report: Report) -> None:
    if report.asked == "parts":
        say("The service did not answer: its parts were asked.")
    if report.asked == "health":
        say("Without an admin's key its parts were only asked whether they answer.")
    for one in report.findings:
        show(f"{one.severity} ({one.part}): {one.message}")
        show(f"    {one.fix}")
    compared = report.compared or {}
    if compared and not compared["all"]:
        memories, spaces = compared["memories"], compared["spaces"]
        told = f"{_counted(memories, 'memory', 'memories')} of {_counted(spaces, 'space', 'spaces')}"
        say(f"Not everything was compared with the index, but {told}.")
    if not report.findings:
        show(f"Nothing is wrong at {report.url}.")

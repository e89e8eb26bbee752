"""The health of the daemon: probes, its version, its figures and its actors.

`/livez` says that the event loop runs; `/readyz` says that the daemon has all it needs to work, or
what is missing. Both answer also while the daemon starts and stops.
"""

import importlib.metadata
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any

import msgspec

from adapters.http.endpoints import Access, Call, Endpoint, HttpResponse, Parameter, json_response

Check = Callable[[], Awaitable[str | None]]
"""Asks for one thing that work needs, and returns why it is missing, or None."""

Report = Callable[[], Mapping[str, Any]]
"""The statistics of every long-lived object, by what it is called."""

VERSION = importlib.metadata.version("promptcorner")
METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
UNCACHED = (("cache-control", "no-store"),)


class Liveness(msgspec.Struct, frozen=True):
    """The answer of `/livez`."""

    status: str


class Readiness(msgspec.Struct, frozen=True, omit_defaults=True):
    """The answer of `/readyz`: what fails; if asked for, every check, and warnings, with which the
    daemon is ready all the same."""

    status: str
    failing: Mapping[str, str] = {}
    checks: Mapping[str, str] = {}
    warnings: Mapping[str, str] = {}


class Probes:
    """Answers the probes. The daemon says what to check, and when it cannot be ready."""

    def __init__(self) -> None:
        self._checks: Mapping[str, Check] = {}
        self._warnings: Mapping[str, Check] = {}
        self._phase: str | None = "starting"

    def ready(
        self, checks: Mapping[str, Check], warnings: Mapping[str, Check] | None = None
    ) -> None:
        """Be ready from now on whenever all of these checks pass. What others return is a warning,
        and these are made only for a caller who asks for them."""
        self._checks, self._phase = checks, None
        self.warn_of(warnings or {})

    def warn_of(self, warnings: Mapping[str, Check]) -> None:
        """Make these checks as well for a caller who asks for warnings."""
        self._warnings = {**self._warnings, **warnings}

    def stopping(self) -> None:
        """Be not ready from now on."""
        self._checks, self._warnings, self._phase = {}, {}, "stopping"

    def endpoints(self) -> Sequence[Endpoint]:
        verbose = Parameter(name="verbose", help="every check, also those that pass, and warnings")
        return (
            Endpoint(
                method="GET",
                path="/livez",
                handle=self.liveness,
                summary="The process turns",
                tag="health",
                access=Access.OPEN,
                rate_per_minute=0,
                served_when_full=True,
                answers={200: Liveness},
            ),
            Endpoint(
                method="GET",
                path="/readyz",
                handle=self.readiness,
                summary="Everything that work needs is there",
                tag="health",
                access=Access.OPEN,
                rate_per_minute=0,
                served_when_full=True,
                answers={200: Readiness, 503: Readiness},
                parameters=(verbose,),
            ),
            Endpoint(
                method="GET",
                path="/healthz",
                handle=self.health,
                summary="The same as /livez, in one word",
                tag="health",
                access=Access.OPEN,
                rate_per_minute=0,
                served_when_full=True,
                answers={200: str},
            ),
        )

    async def liveness(self, call: Call) -> HttpResponse:
        return json_response(200, Liveness("alive"), UNCACHED)

    async def health(self, call: Call) -> HttpResponse:
        return HttpResponse(200, b"OK", "text/plain; charset=utf-8", UNCACHED)

    async def readiness(self, call: Call) -> HttpResponse:
        found = {name: await check() for name, check in self._checks.items()}
        found["daemon"] = self._phase  # read last: it may have changed while the checks ran
        failing = {name: why for name, why in found.items() if why is not None}
        is_verbose = any(name == "verbose" for name, _ in call.query)
        checks = {name: why or "ok" for name, why in found.items()} if is_verbose else {}
        warned = {name: await look() for name, look in self._warnings.items()} if is_verbose else {}
        warnings = {name: why for name, why in warned.items() if why is not None}
        status = "not ready" if failing else "ready"
        document = Readiness(status, failing, checks, warnings)
        return json_response(503 if failing else 200, document, UNCACHED)


class BuildInfo(msgspec.Struct, frozen=True):
    """The program, as clients of this API ask for it."""

    external_url: str
    version: str
    dashboard_url: str
    telemetry: bool
    workspace_proxy: bool
    agent_api_version: str
    provisioner_api_version: str
    upgrade_message: str
    deployment_id: str
    webpush_public_key: str  # empty: nothing is pushed to browsers


class DeploymentConfig(msgspec.Struct, frozen=True):
    """The configuration of the deployment. Clients read one switch of it; absent, it is off."""

    config: Mapping[str, bool] = {}


class DeploymentStatus:
    """Answers questions about the deployment as a whole, and the figures of this process."""

    def __init__(
        self,
        *,
        access_url: str,
        deployment_id: str,
        experiments: Collection[str],
        metrics: Callable[[], Awaitable[bytes]],
        report: Report,
    ) -> None:
        self._build = BuildInfo(
            external_url=access_url,
            version=f"v{VERSION}+promptcorner",
            dashboard_url=access_url,
            telemetry=False,
            workspace_proxy=False,
            agent_api_version="",
            provisioner_api_version="",
            upgrade_message="",
            deployment_id=deployment_id,
            webpush_public_key="",
        )
        self._experiments = sorted(experiments)
        self._metrics = metrics
        self._report = report

    def own(self) -> Sequence[Endpoint]:
        """Return the rows about this process alone, which are also served at its own address."""
        return (
            Endpoint(
                method="GET",
                path="/metrics",
                handle=self.metrics,
                summary="Figures for Prometheus",
                tag="health",
                access=Access.OPEN,
                rate_per_minute=0,
                served_when_full=True,
                answers={200: str},
            ),
            Endpoint(
                method="GET",
                path="/debug/actors",
                handle=self.actors,
                summary="Counts of every long-lived object of this process",
                tag="health",
                access=Access.ADMIN,
                scope="settings",
                answers={200: Mapping[str, Any]},
            ),
        )

    def endpoints(self) -> Sequence[Endpoint]:
        return (
            *self.own(),
            Endpoint(
                method="GET",
                path="/api/v2/buildinfo",
                handle=self.buildinfo,
                summary="Which program this is",
                tag="health",
                access=Access.OPEN,
                answers={200: BuildInfo},
            ),
            Endpoint(
                method="GET",
                path="/api/v2/deployment/config",
                handle=self.config,
                summary="What clients may want to know of the deployment's configuration",
                tag="health",
                scope="settings",
                answers={200: DeploymentConfig},
            ),
            Endpoint(
                method="GET",
                path="/api/v2/experiments",
                handle=self.experiments,
                summary="The experiments that are switched on",
                tag="health",
                scope="",
                answers={200: Sequence[str]},
            ),
        )

    async def metrics(self, call: Call) -> HttpResponse:
        return HttpResponse(200, await self._metrics(), METRICS_TYPE, UNCACHED)

    async def actors(self, call: Call) -> HttpResponse:
        return json_response(200, self._report(), UNCACHED)

    async def buildinfo(self, call: Call) -> HttpResponse:
        return json_response(200, self._build)

    async def config(self, call: Call) -> HttpResponse:
        return json_response(200, DeploymentConfig())

    async def experiments(self, call: Call) -> HttpResponse:
        return json_response(200, self._experiments)

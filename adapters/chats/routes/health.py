"""What is asked of the deployment as a whole: its version, its figures, its actors.

Beside the probes (`adapters.http.probes`), which answer while nothing else does.
"""

import importlib.metadata
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import msgspec

from adapters.http.endpoints import Access, Call, Endpoint, HttpResponse, json_response

Report = Callable[[], Mapping[str, Any]]
"""The statistics of every long-lived object, by what it is called."""

VERSION = importlib.metadata.version("promptcorner")
METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
UNCACHED = (("cache-control", "no-store"),)


class BuildInfo(msgspec.Struct, frozen=True):
    external_url: str
    version: str
    dashboard_url: str
    telemetry: bool
    workspace_proxy: bool
    agent_api_version: str
    provisioner_api_version: str
    upgrade_message: str
    deployment_id: str


class DeploymentConfig(msgspec.Struct, frozen=True):
    """Clients read one switch of it, whose absence means no."""

    config: Mapping[str, bool] = {}


class Health:
    def __init__(
        self,
        *,
        access_url: str,
        deployment_id: str,
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
        )
        self._metrics = metrics
        self._report = report

    def own(self) -> Sequence[Endpoint]:
        """Of this process alone: also served at its own address."""
        return (
            Endpoint(
                method="GET",
                path="/metrics",
                handle=self.metrics,
                summary="Figures for Prometheus",
                tag="health",
                access=Access.OPEN,
                rate_per_minute=0,
                when_full=True,
                answers={200: str},
            ),
            Endpoint(
                method="GET",
                path="/debug/actors",
                handle=self.actors,
                summary="How everything that lives long in this process fares",
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
        )

    async def metrics(self, call: Call) -> HttpResponse:
        return HttpResponse(200, await self._metrics(), METRICS_TYPE, UNCACHED)

    async def actors(self, call: Call) -> HttpResponse:
        return json_response(200, self._report(), UNCACHED)

    async def buildinfo(self, call: Call) -> HttpResponse:
        return json_response(200, self._build)

    async def config(self, call: Call) -> HttpResponse:
        return json_response(200, DeploymentConfig())

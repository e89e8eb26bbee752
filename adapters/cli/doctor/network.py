"""Checks of the network: the daemon's port, TLS, other processes, providers and proxies."""

import socket
import ssl
from collections.abc import Iterator, Mapping, Sequence

import httpx2
import trio

from actors.law.parts.deltas import FinishReason, ProviderFailure
from actors.law.parts.message import TextPart
from actors.law.parts.prompt import CallSettings, Prompt, UserInput
from adapters.cli.admin.connection import LOCAL_HOSTS, UNKNOWN_TOKEN, local_token_for
from adapters.cli.doctor.findings import Finding, from_refusal, ok, warning, wrong
from adapters.daemon.listening.daemons import daemon_here
from adapters.models.connecting import connect
from adapters.models.provider_config import ModelConfig, models_of_environment
from adapters.models.providers.dial import dial_through, direct_dial, proxy_of, tls_context
from adapters.models.providers.http import HttpClient
from adapters.plugins.plugins import Plugins
from adapters.plugins.providers import plugin_models
from adapters.relay.listener import ADVICE, NoAddress, first_address
from adapters.settings import Config, HostAddress
from adapters.settings.refusals import CannotStart
from adapters.tools.mcp.oauth.guard import is_reachable

ASK_SECONDS = 5.0  # for a daemon of ours to answer
ANSWER_SECONDS = 60.0  # for a provider to say one word; then something is wrong
ANSWER_TOKENS = 64
# This machine itself, and the services that tell the machines of a cloud their secrets.
OURS_ALONE = ("127.0.0.1", "::1", "169.254.169.254", "fd00:ec2::254")


def check_daemon(config: Config) -> Iterator[Finding]:
    """Look for the daemon of the data directory, or whether one could listen at its address."""
    try:
        url = daemon_here(config).url
    except CannotStart as refusal:
        yield from_refusal("daemon", refusal)
        return
    try:
        alive = httpx2.get(f"{url}/livez", timeout=ASK_SECONDS, trust_env=False, verify=False)
        ready = httpx2.get(f"{url}/readyz", timeout=ASK_SECONDS, trust_env=False, verify=False)
    except httpx2.HTTPError:
        yield check_port(config)
        return
    if alive.status_code != 200 or "alive" not in alive.text:
        fact = f"another program listens at {config.listen}"
        yield wrong("port", fact, "choose another with --listen HOST:PORT")
    elif not is_ours(config, url):
        fact = f"the daemon at {url} is not that of {config.data_dir}, whose key it does not know"
        yield wrong("daemon", fact, "name its data directory with --data-dir, or another --listen")
    elif ready.status_code == 200:
        yield ok("daemon", f"runs at {url} and is ready")
    else:
        yield wrong("daemon", f"runs at {url} and is not ready: {ready.text.strip():.200}")


def is_ours(config: Config, url: str) -> bool:
    """Tell whether a daemon knows the key of our data directory; yes if it cannot be asked."""
    if config.secret_key is None and not config.secret_key_file.exists():
        return False  # no daemon has run here yet
    try:
        token = local_token_for(config, url)
    except CannotStart:
        return True  # we may not read the key, or another user listens there
    headers, path = {"Coder-Session-Token": token}, f"{url}/api/v2/users/me"
    try:
        answer = httpx2.get(
            path, headers=headers, timeout=ASK_SECONDS, trust_env=False, verify=False
        )
    except httpx2.HTTPError:
        return True  # it stops just now
    return answer.status_code != UNKNOWN_TOKEN


def check_hooks(config: Config) -> Iterator[Finding]:
    """Look whether the server of policy hooks can be reached. It is asked nothing."""
    if config.hook_url is None:
        return
    try:
        answer = httpx2.head(config.hook_url, timeout=ASK_SECONDS, follow_redirects=False)
    except httpx2.HTTPError as error:
        fact = f"the server cannot be reached ({type(error).__name__}): prompts are refused"
        yield wrong("hooks", fact, "start it, or set hook_url to where it is")
        return
    if answer.is_redirect:
        fact = "the server sends to another address, which is not followed: prompts are refused"
        yield wrong("hooks", fact, "set hook_url to where it leads")
    else:
        yield ok("hooks", "the server of policy hooks can be reached")


def check_port(config: Config) -> Finding:
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_STREAM) as trying:
            trying.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trying.bind((config.host, config.port))
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        fact = f"cannot listen at {config.listen} ({why})"
        return wrong("port", fact, "choose another with --listen HOST:PORT")
    return ok("port", f"{config.listen} is free, no daemon runs there")


def check_tls(config: Config) -> Iterator[Finding]:
    """Look at whether others can read what clients and the daemon send each other."""
    if config.tls_cert is not None and config.tls_key is not None:
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(config.tls_cert, config.tls_key)
        except (OSError, ssl.SSLError) as error:
            fact = f"{config.tls_cert} and {config.tls_key} are not usable ({error})"
            yield wrong("tls", fact, "both must be PEM, and belong together")
        return
    is_far = config.host not in LOCAL_HOSTS
    if is_far and not (config.access_url or "").startswith("https://"):
        fact = f"{config.listen} can be reached by others, without encryption"
        advice = "set tls_cert and tls_key, or access_url to the https:// of a proxy before it"
        yield warning("tls", fact, advice)


def check_private_networks(config: Config) -> Iterator[Finding]:
    """Look at which private networks can be reached through addresses that users name."""
    networks = sorted(map(str, config.private_networks))
    if not networks:
        return
    fact = f"addresses that users name may lead to {', '.join(networks)}"
    near = [address for address in OURS_ALONE if is_reachable(address, config.private_networks)]
    if near:
        advice = "leave out of private_networks what holds this machine's own addresses"
        yield warning("networks", f"{fact}, and so to {', '.join(near)}", advice)
    else:
        yield ok("networks", fact)


async def check_relay(config: Config) -> Finding:
    """Look at where other processes would find a daemon with these settings."""
    try:
        found = await first_address(config)
    except CannotStart as refusal:  # the database is away, which another check says
        return from_refusal("relay", refusal)
    return relay_finding(config, found)


def relay_finding(config: Config, found: HostAddress | NoAddress) -> Finding:
    if isinstance(found, NoAddress):
        fact = f"{found.why}: watchers at other processes will not see answers as they are written"
        return warning("relay", fact, ADVICE)
    port = str(found.port) if found.port else "any free port"
    seen = "" if config.relay_url is None else f", as {config.relay_url}"
    return ok("relay", f"other processes will find this one at {found.host}, {port}{seen}")


def check_peer(url: str) -> Finding:
    """Look at whether the chats of a process that runs can be followed from here."""
    if not url:
        return warning("relay", "a process that runs has no address for others", f"there, {ADVICE}")
    try:
        httpx2.get(f"{url}/livez", timeout=ASK_SECONDS, trust_env=False)
    except httpx2.HTTPError as error:
        fact = f"a process that runs is not reached from here at {url} ({error})"
        return warning("relay", fact, f"there, {ADVICE}")
    return ok("relay", f"a process that runs is reached at {url}")


def check_proxy(environ: Mapping[str, str]) -> Iterator[Finding]:
    try:
        proxy = proxy_of(environ)
    except ValueError as error:
        yield wrong("proxy", str(error).removeprefix("proxy: "))
        return
    if proxy is not None:
        beside = f", but not to {', '.join(proxy.exempt)}" if proxy.exempt else ""
        yield ok("proxy", f"providers are reached over {proxy.host}:{proxy.port}{beside}")


async def check_providers(
    config: Config, plugins: Plugins, *, online: bool, has_stored: bool = False
) -> Sequence[Finding]:
    """Look at the providers of the environment and of plugins; ask each for a word if `online`.

    `has_stored`: there are some in the database that can be asked.
    """
    try:
        models = models_of_environment(
            config.environ, plugin_models(plugins), is_whole=plugins.all_loaded
        )
    except CannotStart as refusal:
        return [from_refusal("provider", refusal)]
    if not models and has_stored:
        return []
    if not models:
        fact = "there is none, in the environment or in the database: a rehearsal answers chats"
        advice = "set ANTHROPIC_API_KEY, OPENAI_API_KEY or another, or: promptcorner providers add"
        return [warning("provider", fact, advice)]
    if online:
        return [await _try_provider(model, config.environ) for model in models]
    return [ok("provider", f"{model} is set up; --online asks it") for model in models]


async def _try_provider(model: ModelConfig, environ: Mapping[str, str]) -> Finding:
    context = tls_context()
    direct, proxy = direct_dial(context), proxy_of(environ)
    client = HttpClient(direct if proxy is None else dial_through(direct, proxy, context))
    hello = UserInput((TextPart("Say OK."),))
    settings = CallSettings(max_output_tokens=ANSWER_TOKENS)
    prompt = Prompt(model.model, (hello,), settings=settings, cached=False)
    began = trio.current_time()
    try:
        with trio.fail_after(ANSWER_SECONDS):
            answer = await connect(model, client).generate(prompt)
    except trio.TooSlowError:
        return wrong("provider", f"{model}: no answer within {ANSWER_SECONDS:g} s")
    finally:
        await client.aclose()
    if isinstance(answer, ProviderFailure):
        detail = f" ({answer.detail:.200})" if answer.detail else ""
        return wrong("provider", f"{model}: {answer.message}{detail}")
    if not answer.parts and answer.reason is not FinishReason.LENGTH:
        return wrong("provider", f"{model}: its answer is empty", "look at the base URL")
    return ok("provider", f"{model}: answered in {trio.current_time() - began:.1f} s")

"""A page of the browser, driven as a person would: by the names that a screen reader says.

Its complaints (exceptions, errors on the console, violations of its policy) are kept. There must be
none at the end of a test, but for those that the test has announced by `allow`.
"""

import base64
import json
import re
import time
import uuid
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import trio

from tests.patience import PATIENCE_SECONDS
from tests.web import npm
from tests.web.browser import BrowserFault
from tests.web.elements import (
    DRAWN_ANEW_MAX,
    LOOK_SECONDS,
    NOT_IN_TIME,
    Element,
    NodeGone,
    looks,
    value_of,
)
from tests.web.hands import Hands

PICTURES = Path(__file__).parents[2] / "build" / "web"
DESK, TABLET, PHONE = (1440, 900), (900, 1100), (390, 844)
AXE_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
WATCHED = ("Page", "Runtime", "Log", "Network", "DOM", "Accessibility", "Audits")
# What a page may not know before it is asked: the browser itself notes it.
HARMLESS = ("favicon.ico",)


class Page(Hands):
    """One tab."""

    def __init__(self, browser, session, target, frame):
        super().__init__(browser, session)
        self.target = target
        self.url = ""  # what paths are relative to
        self.name = "page"  # of its picture, if its test is red
        self.requests = []  # (method, URL) of all that it asked for
        self.received_bytes = 0  # as they came over the network: compressed, with headers
        self.complaints = []
        self._allowed = []
        self._held = []
        self._frame = frame
        self._axe = None
        browser.listen(session, self._take)

    # What it shows.

    async def goto(self, path):
        """Open a path and wait until its scripts have been read."""
        await self.begin(path)
        await self.until("document.readyState == 'complete'")

    async def begin(self, path):
        """Open a path, and wait for nothing."""
        said = await self.do("Page.navigate", url=self.url + path if path[:1] == "/" else path)
        assert "errorText" not in said, said

    @asynccontextmanager
    async def held(self, pattern):
        """Hold back what it asks for at such addresses, to the end of the block; a list of that."""
        self._held = held = []
        await self.do("Fetch.enable", patterns=[{"urlPattern": pattern}])
        try:
            yield held
        finally:
            await self.do("Fetch.disable")

    async def reload(self):
        await self.js("window.isOld = true")
        await self.do("Page.reload")
        await self.until("!window.isOld && document.readyState == 'complete'")

    async def js(self, expression):
        """Evaluate an expression, or await it."""
        said = await self.do(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        return value_of(said)

    async def until(self, expression):
        """Wait until an expression is true; return its value."""
        value = None
        for _ in looks():
            try:
                if value := await self.js(expression):
                    return value
            except BrowserFault as fault:  # the page it was asked on has gone
                value = fault
            await trio.sleep(LOOK_SECONDS)
        raise await self.stuck(f"{NOT_IN_TIME}: {expression} (last: {value!r})")

    async def until_true(self, check, what):
        """Wait until a check of the test is true; return what it returned."""
        for _ in looks():
            if seen := await check():
                return seen
            await trio.sleep(LOOK_SECONDS)
        raise await self.stuck(f"{NOT_IN_TIME}: {what}")

    async def until_is(self, wanted, ask, *arguments):
        """Wait until `await ask(*arguments)` is what is wanted."""
        seen = None
        for _ in looks():
            with suppress(BrowserFault, NodeGone):  # what it asks is drawn anew
                if (seen := await ask(*arguments)) == wanted:
                    return
            await trio.sleep(LOOK_SECONDS)
        raise await self.stuck(f"{NOT_IN_TIME}: {wanted!r} (last: {seen!r})")

    async def text(self, selector="body"):
        """Return what a person reads there."""
        return await self.js(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''")

    async def until_text(self, text, selector="body"):
        wanted = json.dumps(text)
        found = f"document.querySelector({json.dumps(selector)})?.innerText.includes({wanted})"
        await self.until(found)

    async def until_no_text(self, text, selector="body"):
        found = f"document.querySelector({json.dumps(selector)})?.innerText.includes("
        await self.until(f"!{found}{json.dumps(text)})")

    async def all(self, role, name=None, within=""):
        """Return the elements of a role and a name (a text, or a pattern) as they stand now."""
        found = await self._accessible(role, within)
        return [
            Element(self, node["backendDOMNodeId"])
            for node in found
            if _is_named(_name(node), name)
        ]

    async def find(self, role, name=None, within=""):
        """Wait until there is exactly one element of this role and name; return it."""
        return (await self.find_all(1, role, name, within))[0]

    async def find_all(self, count, role, name=None, within=""):
        """Wait until there are exactly so many elements of this role and name; return them."""
        found = []
        for _ in looks():
            with suppress(BrowserFault):  # it looks at a document that has just gone
                if len(found := await self.all(role, name, within)) == count:
                    return found
            await trio.sleep(LOOK_SECONDS)
        names = await self.names(role, within)
        raise await self.stuck(f"{len(found)} of {role} {name!r}; there are {names}")

    async def names(self, role, within=""):
        """Return the names of all elements of a role."""
        return [_name(node) for node in await self._accessible(role, within)]

    async def _accessible(self, role, within):
        root = (await self.do("DOM.getDocument", depth=0))["root"]["nodeId"]
        top = root
        if within:
            found = await self.do("DOM.querySelector", nodeId=root, selector=within)
            if not (top := found["nodeId"]):
                return []
        found = (await self.do("Accessibility.queryAXTree", nodeId=top, role=role))["nodes"]
        return [node for node in found if not node["ignored"]]

    async def css(self, selector):
        """Wait until there is an element for a selector; return the first."""
        await self.until(f"document.querySelector({json.dumps(selector)}) !== null")
        root = (await self.do("DOM.getDocument", depth=0))["root"]["nodeId"]
        node = (await self.do("DOM.querySelector", nodeId=root, selector=selector))["nodeId"]
        described = await self.do("DOM.describeNode", nodeId=node)
        return Element(self, described["node"]["backendNodeId"])

    # What a person does.

    async def click(self, role, name=None, *modifiers, within="", button="left"):
        """Click what is called so, as soon as it is there; if it is drawn anew, look again."""
        for _ in range(DRAWN_ANEW_MAX):
            with suppress(NodeGone):
                found = await self.find(role, name, within)
                return await found.click(*modifiers, button=button)
        raise await self.stuck(f"{role} {name} is drawn anew again and again")

    async def tap(self, selector):
        """Touch the first element of a selector; if it is drawn anew, look again."""
        for _ in range(DRAWN_ANEW_MAX):
            with suppress(NodeGone):
                return await (await self.css(selector)).tap()
        raise await self.stuck(f"{selector} is drawn anew again and again")

    async def write(self, name, text, role="textbox", within=""):
        """Put text into a field, when it has the focus by a click; if it is drawn anew, again."""
        await self.click(role, name, within=within)
        await self.until_focused(role, name)
        await self.type(text)

    async def value(self, name, role="textbox"):
        """Return what stands in a field."""
        return await (await self.find(role, name)).value()

    async def focused(self):
        """Return role and name of what has the focus."""
        await self.do("DOM.getDocument", depth=0)
        said = await self.do("Runtime.evaluate", expression="document.activeElement ?? document")
        query = {"objectId": said["result"]["objectId"], "fetchRelatives": False}
        [node, *_] = (await self.do("Accessibility.getPartialAXTree", **query))["nodes"] or [{}]
        return node.get("role", {}).get("value", ""), _name(node)

    async def until_focused(self, role, name):
        """Wait until what has this role and name has the focus."""
        await self.until_is((role, name), self.focused)

    # Its surroundings.

    async def size(self, width, height, *, phone=False, scale=1):
        metrics = {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": phone}
        await self.do("Emulation.setDeviceMetricsOverride", **metrics)
        await self.do("Emulation.setTouchEmulationEnabled", enabled=phone)

    async def media(self, *, theme="light", motion="reduce", **more):
        wanted = {"prefers-color-scheme": theme, "prefers-reduced-motion": motion, **more}
        features = [{"name": name, "value": value} for name, value in wanted.items()]
        await self.do("Emulation.setEmulatedMedia", features=features)

    @asynccontextmanager
    async def offline(self):
        """The browser has no network in the block."""
        quick = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
        await self.do("Network.emulateNetworkConditions", offline=True, **quick)
        try:
            yield
        finally:
            await self.do("Network.emulateNetworkConditions", offline=False, **quick)

    async def cookies(self, cookies, url):
        for name, value in cookies:
            await self.do("Network.setCookie", name=name, value=value, url=url)

    async def front(self):
        """Be the tab that a person looks at."""
        await self.browser.do("Target.activateTarget", targetId=self.target)
        await self.do("Page.bringToFront")

    # What is wrong with it.

    async def stuck(self, why):
        """Return what a test fails with that waited in vain: why, and what there is to be seen."""
        path = PICTURES / f"{self.name}.png"
        with trio.move_on_after(PATIENCE_SECONDS):
            await self.picture(path)
        return AssertionError(f"{why}\nthe page: {path}; it complains of {self.complaints}")

    def allow(self, *patterns):
        """Provoke complaints that match these patterns."""
        self._allowed += map(re.compile, patterns)

    @property
    def unexpected(self):
        """The complaints that nobody has allowed."""
        return [
            said
            for said in self.complaints
            if not any(allowed.search(said) for allowed in self._allowed)
        ]

    async def faults_of_access(self):
        """Return what axe finds against WCAG 2.2 AA, one line for each element."""
        if self._axe is None or not await self._axe_is_there():
            world = {"frameId": self._frame, "worldName": f"axe-{uuid.uuid4()}"}
            made = await self.do("Page.createIsolatedWorld", **world)
            self._axe = made["executionContextId"]
            source = (npm.package("axe-core") / "axe.min.js").read_text()
            await self._in_axe(source + "; 0")
        tags = json.dumps(AXE_TAGS)
        said = await self._in_axe(
            f"axe.run(document, {{runOnly: {tags}, resultTypes: ['violations']}})"
            ".then(({violations}) => violations.flatMap(({id, nodes}) => nodes.map("
            "node => `${id}: ${node.target}: ${node.failureSummary}`)))"
        )
        return said

    async def _axe_is_there(self):
        try:
            return await self._in_axe("typeof axe == 'object'")
        except BrowserFault:  # its document has gone
            return False

    async def _in_axe(self, expression):
        how = {"expression": expression, "awaitPromise": True, "returnByValue": True}
        return value_of(await self.do("Runtime.evaluate", contextId=self._axe, **how))

    async def picture(self, path):
        await self.front()
        said = await self.do("Page.captureScreenshot", format="png")
        _write(Path(path), base64.b64decode(said["data"]))

    async def counts(self):
        """Return how many documents, nodes and listeners are alive, after what is lost is gone."""
        await self.do("HeapProfiler.collectGarbage")
        return await self.do("Memory.getDOMCounters")

    def _take(self, method, params):
        match method:
            case "Runtime.exceptionThrown":
                details = params["exceptionDetails"]
                said = details.get("exception", {}).get("description") or details["text"]
                self._complain(said)
            case "Runtime.consoleAPICalled" if params["type"] in ("error", "warning", "assert"):
                words = [str(a.get("value", a.get("description", ""))) for a in params["args"]]
                self._complain(f"console.{params['type']}: {' '.join(words)}")
            case "Log.entryAdded" if params["entry"]["level"] in ("error", "warning"):
                entry = params["entry"]
                self._complain(f"{entry['source']}: {entry['text']} {entry.get('url', '')}")
            case "Audits.issueAdded" if "contentSecurityPolicyIssueDetails" in str(params):
                self._complain(f"policy: {json.dumps(params['issue']['details'])}")
            case "Network.requestWillBeSent":
                request = params["request"]
                self.requests.append((request["method"], request["url"]))
            case "Fetch.requestPaused":
                self._held.append(params["requestId"])
            case "Network.loadingFinished":
                self.received_bytes += params["encodedDataLength"]

    def _complain(self, said):
        if not any(each in said for each in HARMLESS):
            self.complaints.append(said)


@asynccontextmanager
async def a_page(browser, *, size=DESK, phone=False, theme="light"):
    """Open a tab with cookies and a store of its own."""
    context = (await browser.do("Target.createBrowserContext"))["browserContextId"]
    try:
        yield await new_tab(browser, context, size=size, phone=phone, theme=theme)
    finally:
        with trio.move_on_after(PATIENCE_SECONDS, shield=True):
            await browser.do("Target.disposeBrowserContext", browserContextId=context)


async def new_tab(browser, context, *, size=DESK, phone=False, theme="light"):
    """Open one more tab beside those of a context: the same cookies, the same store."""
    made = await browser.do("Target.createTarget", url="about:blank", browserContextId=context)
    target = made["targetId"]
    attached = await browser.do("Target.attachToTarget", targetId=target, flatten=True)
    session = attached["sessionId"]
    tree = await browser.do("Page.getFrameTree", session)
    page = Page(browser, session, target, tree["frameTree"]["frame"]["id"])
    page.context = context
    for domain in WATCHED:
        await page.do(f"{domain}.enable")
    await page.do("Emulation.setTimezoneOverride", timezoneId=_where_it_is_noon())
    await page.size(*size, phone=phone)
    await page.media(theme=theme)
    return page


def _where_it_is_noon():
    """Return a time zone in which it is midday: no story sees a day begin."""
    return f"Etc/GMT{time.gmtime().tm_hour - 12:+d}"


def _write(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def _name(node):
    return node.get("name", {}).get("value", "").strip()


def _is_named(name, wanted):
    if wanted is None:
        return True
    return name == wanted if isinstance(wanted, str) else bool(wanted.search(name))

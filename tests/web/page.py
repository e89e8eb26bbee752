"""A page of the browser, driven as a person would: by names that a screen reader says, by mouse,
keyboard and touch.

What it complains of (exceptions, errors on the console, violations of its policy) is kept, and has
to be nothing at the end of a test; a test that provokes a complaint says so by `allow`.
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

LOOK_SECONDS = 0.02
PICTURES = Path(__file__).parents[2] / "build" / "web"
DESK, TABLET, PHONE = (1440, 900), (900, 1100), (390, 844)
AXE_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
MODIFIERS = {"Alt": 1, "Control": 2, "Meta": 4, "Shift": 8}
KEYS = {  # key: (code, number, text)
    "Enter": ("Enter", 13, "\r"),
    "Escape": ("Escape", 27, ""),
    "Tab": ("Tab", 9, ""),
    "Backspace": ("Backspace", 8, ""),
    "ArrowLeft": ("ArrowLeft", 37, ""),
    "ArrowUp": ("ArrowUp", 38, ""),
    "ArrowRight": ("ArrowRight", 39, ""),
    "ArrowDown": ("ArrowDown", 40, ""),
    "Home": ("Home", 36, ""),
    "End": ("End", 35, ""),
    "PageUp": ("PageUp", 33, ""),
    "PageDown": ("PageDown", 34, ""),
    "Delete": ("Delete", 46, ""),
    "F6": ("F6", 117, ""),
    " ": ("Space", 32, " "),
}
EDITING = {("a", "Control"): ["selectAll"], ("v", "Control"): ["paste"]}
WHERE = """
function () {
  this.scrollIntoView({ block: "nearest", inline: "nearest" });
  const box = this.getBoundingClientRect();
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  const at = document.elementFromPoint(x, y);
  const hit = at && (this.contains(at) || at.contains(this) || this.labels?.length > 0);
  const cover = hit ? "" : at ? at.outerHTML.slice(0, 200) : "nothing: it is out of sight";
  const [width, height, there] = [box.width, box.height, this.isConnected];
  return { x, y, width, height, cover, there, disabled: this.disabled === true };
}
"""
AIM = """
function () {
  const ENDS = ["click", "auxclick", "contextmenu"];
  const ends = new AbortController();
  const aim = window.aim = { fell: "", clicked: false, end: () => ends.abort() };
  const isMine = ({ target }) =>
    this.contains(target) || target.contains?.(this) || this.labels?.length > 0;
  const fall = (event) => { aim.fell ||= isMine(event) ? "here" : "beside"; stop(event) };
  const stop = (event) => {
    if (aim.fell === "beside") { event.preventDefault(); event.stopImmediatePropagation() }
    else if (ENDS.includes(event.type) && isMine(event)) aim.clicked = true;
  };
  const how = { capture: true, signal: ends.signal };
  window.addEventListener("pointerdown", fall, how);
  for (const name of ["mousedown", "pointerup", "mouseup", ...ENDS])
    window.addEventListener(name, stop, how);
}
"""
MISSED = """
function () {
  const { aim } = window;
  aim?.end();
  const isLost = aim?.fell === "here" && !aim.clicked && this.isConnected;
  return aim?.fell === "beside" || isLost;
}
"""
WATCHED = ("Page", "Runtime", "Log", "Network", "DOM", "Accessibility", "Audits")
# What a page may not know before it is asked: the browser itself notes it.
HARMLESS = ("favicon.ico",)


DRAWN_ANEW_MAX = 20  # times between finding and clicking
NOT_IN_TIME = f"not within {PATIENCE_SECONDS:g} s"


def looks(seconds=None):
    """Yield once for each look at a page until the time is over, and at least twice.

    A look is never cut off in the middle: on a machine that hangs the last one still counts.
    """
    end = trio.current_time() + (PATIENCE_SECONDS if seconds is None else seconds)
    yield
    while trio.current_time() < end:
        yield
    yield


class NodeGone(Exception):
    """The node of an element is no longer in its page: it was drawn anew, or is over."""


class Element:
    """A node of a page, found once; it goes with its node."""

    def __init__(self, page, node):
        self.page = page
        self.node = node

    async def js(self, function, *arguments):
        """Call a function of JavaScript with the element as `this`."""
        target = await self.page.do("DOM.resolveNode", backendNodeId=self.node)
        said = await self.page.do(
            "Runtime.callFunctionOn",
            functionDeclaration=function,
            objectId=target["object"]["objectId"],
            arguments=[{"value": each} for each in arguments],
            returnByValue=True,
            awaitPromise=True,
        )
        return _value(said)

    async def text(self):
        return await self.js("function () { return this.innerText ?? this.textContent }")

    async def value(self):
        return await self.js("function () { return this.value }")

    async def attribute(self, name):
        return await self.js("function (name) { return this.getAttribute(name) }", name)

    async def click(self, *modifiers, button="left", times=1):
        """Click in its middle, as soon as it lies still and nothing covers it.

        If it moves away between looking and pressing, nothing else is hit: it is tried again.
        """
        for _ in range(DRAWN_ANEW_MAX):
            box = await self.still()
            await self.js(AIM)
            await self.page.mouse(box["x"], box["y"], *modifiers, button=button, times=times)
            try:
                if not await self.js(MISSED):
                    return
            except BrowserFault:
                return  # the click has led elsewhere
        raise await self.page.stuck(f"it moves away from every click: {box}")

    async def tap(self):
        box = await self.still()
        await self.page.touch(box["x"], box["y"])

    async def focus(self):
        await self.page.do("DOM.focus", backendNodeId=self.node)

    async def type(self, text):
        """Take the focus by a click and put text in."""
        await self.click()
        await self.page.type(text)

    async def choose_files(self, *paths):
        files = [str(path) for path in paths]
        await self.page.do("DOM.setFileInputFiles", files=files, backendNodeId=self.node)

    async def still(self):
        """Wait until it lies still and nothing covers it; return where it is."""
        last, box = None, None
        for _ in looks():
            try:
                box = await self.js(WHERE)
            except BrowserFault as fault:
                raise NodeGone from fault
            if not box["there"]:
                raise NodeGone
            if box == last and not box["cover"] and not box["disabled"]:
                return box
            last = box
            await trio.sleep(LOOK_SECONDS)
        raise await self.page.stuck(f"it cannot be clicked: {box}")


class Page:
    """One tab."""

    def __init__(self, browser, session, target, frame):
        self.browser = browser
        self.session = session
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

    async def do(self, method, **params):
        return await self.browser.do(method, self.session, **params)

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
        return _value(said)

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

    async def mouse(self, x, y, *modifiers, button="left", times=1):
        held = sum(MODIFIERS[each] for each in modifiers)
        how = {"x": x, "y": y, "modifiers": held, "button": button, "clickCount": times}
        await self.do("Input.dispatchMouseEvent", **{**how, "type": "mouseMoved", "button": "none"})
        name = "Input.dispatchMouseEvent"  # both at once: nothing moves between them
        pressed = await self.browser.ask(name, self.session, type="mousePressed", **how)
        released = await self.browser.ask(name, self.session, type="mouseReleased", **how)
        await self.browser.answer(pressed)
        await self.browser.answer(released)

    async def touch(self, x, y):
        async with self.finger(x, y):
            pass

    @asynccontextmanager
    async def finger(self, x, y):
        """Rest on a point with a finger in the block, which is given a function that moves it."""

        async def at(x, y):
            points = [{"x": x, "y": y}]
            await self.do("Input.dispatchTouchEvent", type="touchMove", touchPoints=points)

        await self.do("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        yield at
        await self.do("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    async def drag(self, start, end, steps=8):
        """Press at one point, move to another, let go."""
        await self._mouse("mousePressed", *start)
        for step in range(1, steps + 1):
            at = [a + (b - a) * step / steps for a, b in zip(start, end, strict=True)]
            await self._mouse("mouseMoved", *at)
        await self._mouse("mouseReleased", *end)

    async def _mouse(self, kind, x, y):
        how = {"type": kind, "x": x, "y": y, "button": "left", "buttons": 1, "clickCount": 1}
        await self.do("Input.dispatchMouseEvent", **how)

    async def wheel(self, x, y, pixels):
        how = {"x": x, "y": y, "deltaX": 0, "deltaY": pixels}
        await self.do("Input.dispatchMouseEvent", type="mouseWheel", **how)

    async def type(self, text):
        """Put text in where the focus is, as a keyboard or an input method does."""
        await self.do("Input.insertText", text=text)

    async def press(self, key, *modifiers):
        """Press a key: one of KEYS, or a character."""
        held = sum(MODIFIERS[each] for each in modifiers)
        code, number, text = KEYS.get(key) or _of_character(key)
        how = {"key": key, "code": code, "windowsVirtualKeyCode": number, "modifiers": held}
        writes = text and not held & ~MODIFIERS["Shift"]
        down = {"type": "keyDown", "text": text} if writes else {"type": "rawKeyDown"}
        command = EDITING.get((key, *modifiers), [])  # which the window system would say
        await self.do("Input.dispatchKeyEvent", **down, **how, commands=command)
        await self.do("Input.dispatchKeyEvent", type="keyUp", **how)

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

    async def drop(self, x, y, *paths):
        """Let go of files over a point, as from a window of files."""
        data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            await self.do("Input.dispatchDragEvent", type=kind, x=x, y=y, data=data)

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
        return _value(await self.do("Runtime.evaluate", contextId=self._axe, **how))

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


def _value(said):
    if "exceptionDetails" in said:
        details = said["exceptionDetails"]
        raise BrowserFault(details.get("exception", {}).get("description") or details["text"])
    return said["result"].get("value")


def _name(node):
    return node.get("name", {}).get("value", "").strip()


def _is_named(name, wanted):
    if wanted is None:
        return True
    return name == wanted if isinstance(wanted, str) else bool(wanted.search(name))


def _of_character(key):
    if key.isalpha():
        return f"Key{key.upper()}", ord(key.upper()), key
    return (f"Digit{key}", ord(key), key) if key.isdigit() else ("", ord(key), key)

"""Elements of a page, found once and used as a person does: a click falls where it is aimed.

An element that moves, is covered or is drawn anew is waited for, and what lies there meanwhile is
not hit instead.
"""

import trio

from tests.patience import PATIENCE_SECONDS
from tests.web.browser import BrowserFault

LOOK_SECONDS = 0.02
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
        return value_of(said)

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


def value_of(said):
    """Return the value of an expression that was evaluated in a page; raise what it has raised."""
    if "exceptionDetails" in said:
        details = said["exceptionDetails"]
        raise BrowserFault(details.get("exception", {}).get("description") or details["text"])
    return said["result"].get("value")

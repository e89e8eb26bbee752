"""A person's mouse, fingers and keyboard at a tab, by points and by keys."""

from contextlib import asynccontextmanager

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


class Hands:
    """The input of one tab."""

    def __init__(self, browser, session):
        self.browser = browser
        self.session = session

    async def do(self, method, **params):
        """Give the tab a command of the browser's protocol, and return its answer."""
        return await self.browser.do(method, self.session, **params)

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

    async def drop(self, x, y, *paths):
        """Let go of files over a point, as from a window of files."""
        data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            await self.do("Input.dispatchDragEvent", type=kind, x=x, y=y, data=data)


def _of_character(key):
    if key.isalpha():
        return f"Key{key.upper()}", ord(key.upper()), key
    return (f"Digit{key}", ord(key), key) if key.isdigit() else ("", ord(key), key)

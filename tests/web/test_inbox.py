"""The inbox beside its bell, push to a browser that shows no page, and webhooks in the settings."""

import json
from functools import partial

from tests.web.house import CHATS
from tests.web.page import PICTURES

SETTINGS = {"PROMPTCORNER_PRIVATE_NETWORKS": "127.0.0.0/8"}
INBOX = "/api/v2/notifications/inbox"
BADGE = "document.querySelector('.bell')?.dataset.count"
# What a browser with a push service gives; there is none for a browser of tests.
SUBSCRIBES = """
PushManager.prototype.subscribe = async function (asked) {
  window.asked = asked;
  const keys = {auth: 'BTBZMqHH6r4Tts7J_aSIgg', p256dh:
    'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4'};
  return {toJSON: () => ({endpoint: 'https://push.invalid/1', keys})};
};
"""
# Browsers of tests show no notifications: what the worker would show is kept in it.
KEEPS = """
self.shown = [];
ServiceWorkerRegistration.prototype.showNotification = async (title, {body}) =>
  void self.shown.push(`${title}: ${body}`);
"""


async def test_what_has_ended_is_behind_the_bell_until_it_is_read(page, api):
    first = await api.chat("[[text: done]] Mend the lamp")
    await api.good("PATCH", f"{CHATS}/{first}", {"title": "Mend the lamp"})
    await api.chat("[[faults: 401]] Paint the wall", status="error")
    await page.goto("/new")
    await page.until(f"{BADGE} == '2'")
    assert "Inbox: 2 unread" == await page.js("document.querySelector('.bell').title")

    await page.click("button", "Inbox")

    await page.until_text("Mend the lamp is done", ".inbox")
    await page.until_text("has stopped", ".inbox")
    for theme in ("light", "dark"):
        await page.media(theme=theme)
        assert [] == await page.faults_of_access()
        await page.picture(PICTURES / f"inbox-{theme}.png")
    await page.click("button", "Mark as read: Mend the lamp is done")
    await page.until(f"{BADGE} == '1'")
    await page.click("button", "Mark as unread: Mend the lamp is done")
    await page.until(f"{BADGE} == '2'")
    link = f".inbox a[href='/c/{first}']"
    await page.js(f'document.querySelector("{link}").click()')
    await page.until(f"location.pathname == '/c/{first}' && {BADGE} == '1'")
    await page.click("button", "Inbox")
    await page.click("button", "Mark all as read")
    await page.until(f"!{BADGE}")
    assert 0 == (await api.good("GET", INBOX))["unread_count"]


async def test_news_come_by_themselves_and_what_is_looked_at_is_no_news(page, api):
    await api.good("PUT", f"{INBOX}/mark-all-as-read")
    chat = await api.chat("[[text: done]] Sweep the stage")
    await page.goto(f"/c/{chat}")
    await page.until(f"!{BADGE}")

    async def is_read():
        return (await api.good("GET", INBOX))["unread_count"] == 0

    await page.until_true(is_read, "what is looked at counts as read")
    other = await api.chat("[[text: done]] Hang the curtain")

    await page.until(f"{BADGE} == '1'")
    await page.goto(f"/c/{other}")
    await page.until(f"!{BADGE}")


async def test_a_browser_is_pushed_to_by_a_switch_and_shows_what_comes(page, api, browser):
    await browser.do(
        "Browser.grantPermissions", permissions=["notifications"], browserContextId=page.context
    )
    chat = await api.chat("[[text: done]] Sweep the stage")
    await page.goto("/settings/notifications")
    await page.js(SUBSCRIBES)

    await page.click("button", "Push to this browser")

    await page.until_text("This browser is pushed to.")
    known = await api.good("GET", "/api/v2/users/me/webpush/subscription")
    assert ["push.invalid"] == [each["service"] for each in known["subscriptions"]]
    asked = await page.js("JSON.stringify(window.asked)")
    assert {"userVisibleOnly": True, "applicationServerKey": known["public_key"]} == (
        json.loads(asked)
    )
    for theme in ("light", "dark"):
        await page.media(theme=theme)
        assert [] == await page.faults_of_access()
        await page.picture(PICTURES / f"push-{theme}.png")

    worker = await worker_of(page)
    await pushed(page, title="Paint the wall", body="asks", data={"url": "/c/other"})
    await page.until_true(partial(has_shown, page, worker, "Paint the wall: asks"), "it is shown")
    await page.goto(f"/c/{chat}")
    await page.front()
    await pushed(page, title="Sweep the stage", body="ended", data={"url": f"/c/{chat}"})
    await pushed(page, title="The third", body="asks", data={"url": "/c/third"})
    shown = "Paint the wall: asks, The third: asks"
    await page.until_true(partial(has_shown, page, worker, shown), "what is looked at is not shown")

    await page.goto("/settings/notifications")
    await page.click("button", "Stop push in this browser")
    await page.find("button", "Push to this browser")
    known = await api.good("GET", "/api/v2/users/me/webpush/subscription")
    assert [] == known["subscriptions"]


async def worker_of(page):
    """The worker of the page, which keeps what it shows."""
    address = (f"{page.url}/web/worker.js", page.context)

    async def target():
        targets = (await page.browser.do("Target.getTargets"))["targetInfos"]
        where = [
            ((each["url"], each.get("browserContextId")), each["targetId"]) for each in targets
        ]
        return next((id for place, id in where if place == address), None)

    id = await page.until_true(target, "the worker of the page runs")
    attached = await page.browser.do("Target.attachToTarget", targetId=id, flatten=True)
    await page.browser.do("Runtime.evaluate", attached["sessionId"], expression=KEEPS)
    return attached["sessionId"]


async def has_shown(page, worker, expected):
    asked = {"expression": "self.shown.join(', ')"}
    found = await page.browser.do("Runtime.evaluate", worker, **asked)
    return expected == found["result"]["value"]


async def pushed(page, **message):
    """A push service hands this to the browser."""
    heard = []
    page.browser.listen(page.session, lambda method, said: heard.append((method, said)))
    try:
        await page.do("ServiceWorker.disable")
        await page.do("ServiceWorker.enable")

        async def registration():
            return [
                each["registrationId"]
                for method, said in heard
                if method == "ServiceWorker.workerRegistrationUpdated"
                for each in said["registrations"]
                if each["scopeURL"].startswith(page.url) and not each["isDeleted"]
            ]

        found = await page.until_true(registration, "the browser has the worker")
        await page.do(
            "ServiceWorker.deliverPushMessage",
            origin=page.url,
            registrationId=found[-1],
            data=json.dumps(message),
        )
    finally:
        page.browser.listen(page.session, page._take)


async def test_a_webhook_is_added_tried_and_switched_off(page, api):
    await page.goto("/settings/webhooks")
    await page.write("Address", "https://webhooks.invalid/hook")

    await page.click("button", "Add the webhook")

    secret = await (await page.find("textbox", "The secret of the webhook")).value()
    assert secret.startswith("whsec_")
    await page.click("button", "Try https://webhooks.invalid/hook")
    await page.until_text("A trial was sent")
    await page.click("button", "Switch off https://webhooks.invalid/hook")
    await page.find("button", "Switch on https://webhooks.invalid/hook")
    [hook] = await api.good("GET", "/api/v2/users/me/webhooks")
    assert not hook["enabled"]
    await page.js("document.querySelector('.set-main details').open = true")
    await page.until_text("chat.test")
    for theme in ("light", "dark"):
        await page.media(theme=theme)
        assert [] == await page.faults_of_access()
        await page.picture(PICTURES / f"webhooks-{theme}.png")
    await page.goto("/admin/webhooks")
    await page.until_text("of all users")

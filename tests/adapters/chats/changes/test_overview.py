"""The state of tokens, as doctor and the probes of a daemon tell of it."""

from adapters.chats.changes import overview as module
from adapters.chats.changes.overview import ForgeOverview, ForgeTokensCheck, overview
from adapters.chats.changes.store import forge_token_subject
from adapters.cli.doctor.findings import FindingState
from adapters.cli.doctor.forges import check_forges, forge_findings
from adapters.settings import read_config
from adapters.settings.secrets import SETTING, Vault
from tests.actors.law.chats import ANN, BOB
from tests.adapters.chats.changes.ground import VAULT
from tests.fakes.forge import TOKEN

KEY = "a-master-key-for-tests-of-more-than-32-bytes"
HOST = "git.test"
FORMER = Vault(b"a former master key for tests, also long enough")


def a_row(user=ANN, *, vault=VAULT, is_refused=False, seconds=None):
    sealed = vault.seal(TOKEN, forge_token_subject(user, HOST))
    return user, HOST, sealed, is_refused, seconds


def test_each_fault_is_counted_and_a_token_that_is_closed_is_not_called_refused():
    rows = [
        a_row(),
        a_row(BOB, is_refused=True),
        a_row(vault=FORMER, is_refused=True),
        a_row(seconds=61.0),
    ]

    found = overview(rows, VAULT)

    assert {HOST: ForgeOverview(4, 1, 1, 1, 61.0)} == found
    assert [
        "1 of 4 tokens are sealed with a secret key that is not ours",
        "1 of 4 tokens are refused by the forge",
        "1 of 4 tokens are told by the forge to be patient, for up to 2 min",
    ] == list(found[HOST].faults())


def test_a_forge_where_all_is_well_and_one_where_users_have_no_token():
    found = {HOST: ForgeOverview(2)}

    good, lacks = forge_findings([HOST, "other.test"], found, {"other.test": 3, "gone.test": 1})

    assert (FindingState.OK, f"{HOST}: 2 tokens of users") == (good.state, good.fact)
    assert FindingState.WARNING is lacks.state
    assert "other.test: 3 users have chats on a branch there, and no token" == lacks.fact


def test_another_key_has_an_advice_of_its_own():
    [finding] = forge_findings([HOST], {HOST: ForgeOverview(1, closed=1)}, {})

    assert "PROMPTCORNER_SECRET_KEY" in finding.advice


async def test_doctor_reads_all_of_it_from_the_database(ground):
    await ground.a_chat("work")
    await ground.a_chat("work", by=BOB)
    await ground.bring_token(token="of-nobody")
    await ground.refresher().tick()
    theirs = Vault(KEY.encode())
    sealed = theirs.seal(TOKEN, forge_token_subject(ANN, ground.forge.host))
    await ground.store.execute("UPDATE forge_tokens SET sealed = %(sealed)s", sealed=sealed)
    config = read_config({}, {"PROMPTCORNER_FORGES": f"github={ground.forge.url}", SETTING: KEY})

    async with ground.store.pool.connection() as connection:
        [finding] = await check_forges(connection, config)

    assert FindingState.WARNING is finding.state
    assert "1 of 1 token is refused by the forge" in finding.fact
    assert "1 user has chats on a branch there, and no token" in finding.fact


async def test_the_note_of_a_probe_names_no_host_and_is_good_for_a_while(ground, monkeypatch):
    check = ForgeTokensCheck(ground.tokens, FORMER)
    assert None is await check.note()
    await ground.bring_token()
    assert None is await check.note()

    monkeypatch.setattr(module, "LOOK_SECONDS", 0.0)

    assert "1 of 1 token is sealed with a secret key that is not ours" == await check.note()


async def test_a_token_that_cannot_be_opened_is_told_to_its_user(ground):
    await ground.a_chat("work")
    sealed = FORMER.seal(TOKEN, forge_token_subject(ANN, ground.forge.host))
    await ground.tokens.put(ANN, ground.forge.host, sealed)

    await ground.refresher().tick()

    assert "another secret key" in (await ground.tokens.of(ANN))[ground.forge.host].failure
    assert [] == ground.forge.asked

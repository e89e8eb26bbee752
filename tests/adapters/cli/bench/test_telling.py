"""The load, and what is made of a run: percentiles, ratios, tables, pictures."""

import json
import math
import xml.etree.ElementTree as xml

import pytest

from adapters.cli.bench import command
from adapters.cli.bench.plan import CHATS, FLAGS, load_of, read_chats
from adapters.cli.bench.telling import comparing, documents, drawing, figures, tables
from adapters.cli.bench.telling.documents import RunDocument
from adapters.cli.bench.telling.figures import Phase, Row, Spread, percentiles
from adapters.cli.main import main


def a_phase(turns=100, ms=2.0, **cpu):
    seconds = [ms / 1000 * each for each in range(1, 101)]
    times = {"first_words": percentiles(seconds), "deltas": percentiles(seconds)}
    return Phase(10.0, turns, turns * 10, turns, times, cpu, {"statements": turns * 9.0})


def a_row(name="promptcorner", chats=10, daemon=1.0, **changes):
    floor = a_phase(driver=0.2)
    phase = a_phase(daemon=daemon, postgresql=0.5, driver=1.0, provider=0.5)
    fields = {
        "floor": floor,
        "phases": {"follow_up": phase},
        "memory": {"rss": 100.0, "pss": None},
        "failures": {},
        "reasons": {},
        "retries": 0,
        "seconds": 12.0,
    }
    return Row(name=name, chats=chats, **fields | changes)


def a_document(*rows):
    load = load_of("paced", {}, rows[0].chats)
    facts = {"settings": {}, "machine": {"cores there": "2"}, "versions": {"trio": "0"}}
    return RunDocument(made_at="today", pace="paced", load=load, rows=list(rows), **facts)


@pytest.mark.parametrize(
    ("values", "percent", "value"),
    [([3, 1, 2], 50, 2), ([3, 1, 2], 99, 3), (range(1, 101), 95, 95), ([7], 1, 7)],
)
def test_a_percentile_is_a_value_that_was_seen(values, percent, value):
    assert value == figures.percentile(list(values), percent)


def test_nothing_seen_is_no_figure():
    assert math.isnan(figures.percentile([], 50))
    assert percentiles([]) is None
    assert figures.cpu_per_turn(a_phase(turns=0, daemon=1.0), "daemon") is None


def test_a_stage_is_told_as_the_mean_of_its_messages():
    grown = {"admit sum": 0.5, "admit count": 100.0, "commit sum": 1.0, "commit count": 0.0}

    assert {"admit": 5.0} == figures.stage_means(grown | {"start sum": None, "start count": None})


@pytest.mark.parametrize(
    ("value", "base", "found"), [(3.0, 2.0, 1.5), (3.0, 0.0, None), (None, 2.0, None)]
)
def test_a_ratio_needs_both(value, base, found):
    assert found == figures.ratio(value, base)


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (a_row(), None),
        (
            a_row(phases={"follow_up": a_phase(driver=7.0, provider=1.5)}),
            "driver and provider used 85% of a core in the phase follow_up",
        ),
        (a_row(failures={"create_chat": 2, "archive": 1}), "3 failures"),
    ],
)
def test_a_row_that_tells_nothing_of_the_daemon_is_unfit(row, why):
    assert why == figures.unfit(row)


@pytest.mark.parametrize(
    ("now", "before", "repeats", "said"),
    [
        (Spread(2, 1.9, 2.1), Spread(1, 0.9, 1.1), 3, "more"),
        (Spread(1, 0.9, 1.1), Spread(2, 1.9, 2.1), 3, "less"),
        (Spread(2, 1.0, 2.1), Spread(1, 0.9, 1.1), 3, "like"),
        (Spread(2, 2, 2), Spread(1, 1, 1), 1, "once"),
        (Spread(1.01, 1.01, 1.01), Spread(1, 1, 1), 1, "like"),
    ],
)
def test_a_difference_is_told_only_beyond_the_noise(now, before, repeats, said):
    assert said == figures.verdict(now, before, repeats=repeats)


def test_costs_are_told_by_the_floor_and_what_is_not_known_is_said():
    row = a_row(daemon=1.0)

    assert 5.0 == figures.floor_ratio(row, "follow_up")
    told = tables.text(a_document(row))
    assert "not told" in told
    assert "later turns  statements per turn" in told
    assert "CPU of the bare client, ms per turn" in told
    assert "no failures" in told


def test_failures_are_told_by_stage_in_words():
    row = a_row(failures={"stream_open": 3}, reasons={"stream_open: answered 503": 3}, retries=2)

    told = tables.text(a_document(row))

    assert "10 chats: 3 times stream_open: answered 503" in told
    assert "unfit: 3 failures" in told
    assert "2 retries of the daemon at its provider" in told


def test_repeats_are_one_line_with_their_median():
    rows = [a_row(daemon=each) for each in (1.0, 3.0, 1.1)]

    [line] = tables.summary_rows(a_document(*rows))

    assert "the middle of 3" in line[-1]
    spread = figures.spreads(rows)["follow_up.daemon_cpu_ms_per_turn"]
    assert [11.0, 10.0, 30.0] == pytest.approx([spread.median, spread.low, spread.high])


def test_two_daemons_of_one_run_are_compared():
    rows = [a_row("base", daemon=each) for each in (2.0, 2.1)]
    rows += [a_row(daemon=each) for each in (1.0, 1.05)]

    told = comparing.side_by_side(a_document(*rows), "base")

    [line] = [each for each in told.splitlines() if "daemon_cpu_ms" in each]
    assert ["20.5", "10.2", "0.5", "±", "2%", "less"] == line.split()[1:]


def test_a_run_of_another_load_is_not_compared():
    earlier = a_document(a_row())
    other = load_of("saturated", {}, 10)

    assert "now / today, 10 chats" in comparing.with_earlier(a_document(a_row()), earlier)
    changed = documents.decode(documents.encode(earlier).encode())
    changed = RunDocument(
        **{name: getattr(changed, name) for name in changed.__struct_fields__} | {"load": other}
    )
    assert "another load" in comparing.with_earlier(a_document(a_row()), changed)


@pytest.mark.parametrize("text", [b"{}", b"not", b'{"version": 9}'])
def test_what_is_no_result_is_refused(text):
    with pytest.raises(ValueError, match="is no result"):
        documents.decode(text)


def test_a_result_of_another_form_is_refused():
    told = json.loads(documents.encode(a_document(a_row()))) | {"version": 2}

    with pytest.raises(ValueError, match="has the form 2"):
        documents.decode(json.dumps(told).encode())


def test_a_picture_is_drawn_for_both_themes_and_says_what_it_shows():
    slow = a_row(chats=20, failures={"interrupt": 1}, phases={})

    drawn = drawing.picture(a_document(a_row(), slow))

    root = xml.fromstring(drawn)
    assert "prefers-color-scheme: dark" in drawn
    assert "10 chats: first words after 100 ms, p99 198" in root.attrib["aria-label"]
    texts = [each.text for each in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "promptcorner, 20 chats: unfit, 1 failures" in texts


def test_a_page_has_every_row_in_tables():
    page = tables.markdown(a_document(a_row(), a_row(chats=20)))

    assert ["## promptcorner, 10 chats", "## promptcorner, 20 chats"] == [
        line for line in page.splitlines() if line.startswith("## ")
    ]
    assert all(line.endswith("|") for line in page.splitlines() if line.startswith("|"))


@pytest.mark.parametrize("flag", FLAGS, ids=lambda flag: flag.name)
def test_every_number_has_bounds_and_its_defaults_are_within(flag):
    for value in (flag.low, flag.high, flag.paced, flag.saturated):
        assert value == flag.read(f"{value:g}")
    for text in ("x", f"{flag.low - 1:g}", f"{flag.high + 1:g}", "nan"):
        with pytest.raises(ValueError, match="must be "):
            flag.read(text)


def test_chats_are_one_number_or_several():
    assert (10, 200) == read_chats("10,200")
    for text in ("", "0", "1,x", f"{CHATS.high + 1:g}", "1,2,3,4,5,6,7,8,9"):
        with pytest.raises(ValueError, match="must be "):
            read_chats(text)


def test_a_load_has_what_was_given_and_else_what_its_pace_has():
    load = load_of("saturated", {"turns": 2, "interrupts": 50}, 5)

    assert (2, 5, 0, 100) == (load.turns, load.interrupts, load.delta_ms, load.deltas)


@pytest.mark.parametrize("words", [["--chats", "0"], ["--chats", "5001"], ["--turns", "x"]])
def test_a_run_is_bounded(words, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["bench", *words])

    assert 2 == ended.value.code
    assert "must be 1.." in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["--provider", "127.0.0.1:0"],
        ["--url", "http://127.0.0.1:9", "--processes", "2"],
        ["--compare", "/nowhere/load.json"],
        ["--against", "/nowhere"],
    ],
)
def test_flags_that_do_not_fit_together_are_refused_in_a_line(words, capsys, monkeypatch):
    monkeypatch.setattr(command, "a_provider", pytest.fail)  # before anything is started

    assert 1 == main(["bench", *words])
    assert 1 == capsys.readouterr().err.count("\n")

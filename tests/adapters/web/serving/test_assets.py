"""The files of the page: how they are served, and what all of them weigh."""

import gzip
import json
from hashlib import sha256

import pytest

from adapters.web.serving.assets import (
    ENTRY,
    FOLDER,
    STAGES,
    STYLES,
    TYPES,
    Assets,
    load_assets,
    own_assets,
)
from adapters.web.serving.joining import join_modules

FIRST_CHAT_BYTES_MAX = 150 * 1024  # all that a first chat loads, compressed
FIRST_PAINT_BYTES_MAX = 75 * 1024  # of scripts, before anything is seen
REQUESTS_MAX = 40


@pytest.fixture(scope="module")
def assets():
    return own_assets()


def test_every_file_is_of_a_kind_that_is_served():
    files = [p for p in FOLDER.rglob("*") if p.is_file() and not p.name.endswith(".d.ts")]
    strange = [p.name for p in files if p.suffix not in TYPES]

    assert not strange


def test_modules_are_joined():
    files = {p.relative_to(FOLDER).as_posix(): p.read_bytes() for p in FOLDER.rglob("*.js")}

    join_modules(files, ENTRY, STAGES)  # else it says which module is not, and why


def test_one_byte_more_is_another_version():
    before, after = Assets({"app.js": b"a"}), Assets({"app.js": b"b"})

    assert before.digest != after.digest
    assert f"/web/{after.digest}/app.js" == after.url("app.js")


def test_files_of_libraries_are_those_that_were_listed():
    listed = json.loads((FOLDER / "vendor/versions.json").read_text())

    there = {path.name for path in (FOLDER / "vendor").glob("*.js")}
    assert there == set(listed)
    for name, told in listed.items():
        assert told["sha256"] == sha256((FOLDER / "vendor" / name).read_bytes()).hexdigest()
        licence = (FOLDER / "vendor" / name.replace(".js", ".LICENSE.txt")).read_text()
        assert not [package for package in told["made_of"] if package not in licence]


def test_a_first_chat_loads_little(assets):
    names = [*assets.preloaded, *assets.fetched_after, "join/panel.js", STYLES]
    sizes = {name: len(assets.find(name).compressed) for name in dict.fromkeys(names)}

    assert sum(sizes.values()) <= FIRST_CHAT_BYTES_MAX, sizes
    assert len(sizes) <= REQUESTS_MAX


def test_a_first_picture_needs_few_scripts(assets):
    sizes = {name: len(assets.find(name).compressed) for name in assets.preloaded}

    assert "vendor/markdown-it.js" in sizes
    assert sum(sizes.values()) <= FIRST_PAINT_BYTES_MAX, sizes


def test_later_modules_are_no_part_of_the_first_picture(assets):
    assert ["join/after_paint.js"] == assets.fetched_after
    assert not [n for n in assets.preloaded if "after_paint" in n or "in_advance" in n]


def test_style_sheets_are_joined_tokens_first(assets):
    whole = assets.find(STYLES).body.decode()

    assert whole.startswith(":root{")
    assert "/*" not in whole
    for path in (FOLDER / "css").glob("*.css"):
        last = path.read_text().rstrip().splitlines()[-1].strip()
        assert last.startswith("/*") or last in whole, path.name


def test_files_of_a_developer_are_served_as_they_are(tmp_path):
    (tmp_path / "app.js").write_text('import "./other.js";\n// a comment\n')
    (tmp_path / "other.js").write_text("export const a = 1;\n")

    assets = load_assets(tmp_path)

    assert "dev" == assets.digest
    assert "app.js" == assets.entry
    assert ["app.js", "other.js"] == assets.preloaded
    assert b"a comment" in assets.find("app.js").body


async def test_a_file_comes_compressed_and_is_kept_for_a_year(edge, assets):
    url = assets.url(assets.entry)

    whole = await edge.nobody.get(url, headers={"accept-encoding": "identity"})
    small = await edge.nobody.get(url, headers={"accept-encoding": "gzip, br"})

    assert "public, max-age=31536000, immutable" == whole.headers["cache-control"]
    assert "text/javascript; charset=utf-8" == whole.headers["content-type"]
    assert "nosniff" == whole.headers["x-content-type-options"]
    assert "gzip" == small.headers["content-encoding"]
    assert int(small.headers["content-length"]) < len(whole.body) / 2
    assert assets.find(assets.entry).body == whole.body == small.body
    assert gzip.decompress(assets.find(assets.entry).compressed) == whole.body


async def test_a_file_that_a_browser_has_is_not_sent_again(edge, assets):
    url = assets.url(STYLES)
    tag = (await edge.nobody.get(url)).headers["etag"]

    again = await edge.nobody.get(url, headers={"if-none-match": tag})

    assert (304, b"") == (again.status, again.body)


@pytest.mark.parametrize(
    "path", ["/web/000000000000/all.css", "{}/missing.js", "{}/../assets.py", "{}/", "{}/css"]
)
async def test_what_is_no_file_of_this_version_is_not_there(edge, assets, path):
    answer = await edge.nobody.get(path.format(f"/web/{assets.digest}"))

    assert 404 == answer.status


async def test_the_version_that_is_served_can_be_asked_for(edge, assets):
    answer = await edge.nobody.get("/web/version")

    assert {"digest": assets.digest} == answer.document
    assert "no-store" == answer.headers["cache-control"]

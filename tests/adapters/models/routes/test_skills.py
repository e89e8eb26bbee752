"""Skills that users keep."""

import pytest

SKILLS = "/api/experimental/users/me/skills"
ALL = "/api/experimental/users/{user}/skills"


def written(name="notes", description="How we write", body="Begin."):
    return {"content": f"---\nname: {name}\ndescription: {description}\n---\n{body}\n"}


@pytest.mark.slow
async def test_a_skill_is_kept_read_rewritten_and_forgotten(edge):
    added = await edge.member.post(SKILLS, written())
    listed = (await edge.member.get(SKILLS)).document
    found = (await edge.member.get(f"{SKILLS}/notes")).document
    changed = await edge.member.patch(f"{SKILLS}/notes", written(body="End."))
    removed = [(await edge.member.delete(f"{SKILLS}/notes")).status for _ in range(2)]

    assert 201 == added.status
    assert added.document == found
    assert written()["content"] == found["content"]
    assert [{name: found[name] for name in listed[0]}] == listed
    assert {"id", "name", "description", "created_at", "updated_at"} == set(listed[0])
    assert ("notes", "How we write") == (found["name"], found["description"])
    assert (200, written(body="End.")["content"]) == (changed.status, changed.document["content"])
    assert [204, 404] == removed


@pytest.mark.slow
async def test_what_is_no_skill_or_not_there_is_refused(edge):
    await edge.member.post(SKILLS, written())
    table = [
        ("post", SKILLS, {}, 400),
        ("post", SKILLS, {"content": "no front matter"}, 400),
        ("post", SKILLS, written(name="Upper"), 400),
        ("post", SKILLS, written(name=""), 400),
        ("post", SKILLS, written(body=" "), 400),
        ("post", SKILLS, written(body="x" * 65_536), 400),
        ("post", SKILLS, written(description="x" * 4_097), 400),
        ("post", SKILLS, written(), 409),
        ("patch", f"{SKILLS}/notes", written(name="other"), 400),
        ("patch", f"{SKILLS}/other", written(name="other"), 404),
        ("patch", f"{SKILLS}/Not_A_Name", written(), 400),
    ]

    found = []
    for method, path, body, _ in table:
        found.append((method, path, body, (await getattr(edge.member, method)(path, body)).status))
    reads = [(await edge.member.get(f"{SKILLS}/{name}")).status for name in ("other", "Not_A_Name")]

    assert table == found
    assert [404, 400] == reads


@pytest.mark.slow
async def test_a_user_keeps_so_many_and_no_more(edge):
    await edge.execute(
        "INSERT INTO user_skills (id, user_id, name, description, content)"
        " SELECT gen_random_uuid(), %(user)s, 'skill-' || n, '', 'x'"
        " FROM generate_series(1, 99) AS n",
        {"user": edge.member.id},
    )

    statuses = [
        (await edge.member.post(SKILLS, written(name=name))).status for name in ("last", "over")
    ]

    assert [201, 409] == statuses
    assert 201 == (await edge.stranger.post(SKILLS, written(name="over"))).status


@pytest.mark.slow
async def test_skills_are_ones_own(edge):
    await edge.member.post(SKILLS, written())
    of_member = ALL.format(user=edge.member.username)

    found = [await asker.get(f"{of_member}/notes") for asker in (edge.admin, edge.stranger)]

    assert [200, 404] == [answer.status for answer in found]
    assert [] == (await edge.stranger.get(SKILLS)).document

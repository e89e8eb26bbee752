"""Skills of users: the endpoints at /api/experimental/users/{user}/skills."""

from collections.abc import Sequence

from msgspec import structs

from adapters.http.endpoints import Call, Endpoint, HttpResponse, json_response, no_content
from adapters.http.refusals import HttpError, Validation, not_found
from adapters.models.routes.checks import People, invalid, target_user
from adapters.models.routes.wire import UserSkill, UserSkillMetadata, WriteUserSkillRequest
from adapters.models.skill_file import (
    CONTENT_BYTES_MAX,
    InvalidSkill,
    Skill,
    is_skill_name,
    parse_skill,
)
from adapters.models.store.catalogue import StoredSkill
from adapters.models.store.settings import SkillStore, SkillTaken, TooManySkills

PATH = "/api/experimental/users/{user}/skills"
BODY_BYTES_MAX = 8 * CONTENT_BYTES_MAX  # the content as JSON, with every byte escaped


class SkillRoutes:
    def __init__(self, skills: SkillStore, *, people: People) -> None:
        self._skills = skills
        self._people = people

    def endpoints(self) -> Sequence[Endpoint]:
        one = PATH + "/{name}"
        written = WriteUserSkillRequest
        rows = (
            (
                "GET",
                PATH,
                self.list,
                "List a user's skills.",
                None,
                {200: Sequence[UserSkillMetadata]},
            ),
            ("POST", PATH, self.add, "Add a skill.", written, {201: UserSkill}),
            ("GET", one, self.show, "Get a skill with its content.", None, {200: UserSkill}),
            (
                "PATCH",
                one,
                self.change,
                "Replace the content of a skill.",
                written,
                {200: UserSkill},
            ),
            ("DELETE", one, self.remove, "Remove a skill.", None, {204: None}),
        )
        return tuple(
            Endpoint(
                method=method,
                path=path,
                handle=handle,
                summary=says,
                tag="skills",
                scope="settings",
                body=body,
                body_bytes_max=BODY_BYTES_MAX,
                answers=answers,
                refusals=(409,) if method == "POST" else (),
            )
            for method, path, handle, says, body, answers in rows
        )

    async def list(self, call: Call) -> HttpResponse:
        user = await target_user(self._people, call)
        return json_response(200, [_metadata(skill) for skill in await self._skills.of(user)])

    async def show(self, call: Call) -> HttpResponse:
        user = await target_user(self._people, call)
        found = await self._skills.read(user, _name(call))
        if found is None:
            raise not_found()
        return json_response(200, _whole(found))

    async def add(self, call: Call) -> HttpResponse:
        user = await target_user(self._people, call)
        skill, content = _written(call)
        added = await self._skills.add(
            user, skill.name, description=skill.description, content=content
        )
        match added:
            case SkillTaken(name):
                validation = Validation("name", "is taken by another skill")
                raise HttpError(
                    409, f"A skill named {name!r} exists already.", validations=(validation,)
                )
            case TooManySkills(most):
                raise HttpError(409, f"There are {most} skills already, which is the limit.")
            case StoredSkill():
                return json_response(201, _whole(added))

    async def change(self, call: Call) -> HttpResponse:
        user = await target_user(self._people, call)
        name = _name(call)
        skill, content = _written(call)
        if skill.name != name:
            raise invalid("content", f"is named {skill.name!r} in its front matter, not {name!r}")
        changed = await self._skills.change(
            user, name, description=skill.description, content=content
        )
        if changed is None:
            raise not_found()
        return json_response(200, _whole(changed))

    async def remove(self, call: Call) -> HttpResponse:
        user = await target_user(self._people, call)
        if not await self._skills.remove(user, _name(call)):
            raise not_found()
        return no_content()


def _name(call: Call) -> str:
    name = call.path["name"]
    if not is_skill_name(name):
        raise invalid("name", "must be lowercase words joined by single hyphens")
    return name


def _written(call: Call) -> tuple[Skill, str]:
    content = call.read(WriteUserSkillRequest).content or ""
    skill = parse_skill(content)
    if isinstance(skill, InvalidSkill):
        raise invalid(skill.field, skill.why, "Invalid skill.")
    return skill, content


def _metadata(skill: StoredSkill) -> UserSkillMetadata:
    return UserSkillMetadata(
        id=skill.id,
        name=skill.name,
        description=skill.description,
        created_at=skill.created_at,
        updated_at=skill.updated_at,
    )


def _whole(skill: StoredSkill) -> UserSkill:
    return UserSkill(**structs.asdict(_metadata(skill)), content=skill.content or "")

"""The story of an agent's memory, told with real calls."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Final

from chronofact.cli.demo.stage import Set
from chronofact.client import Conflict

ANA: Final = "ana"
WEB: Final = "repo:acme/web"
API: Final = "repo:acme/api"
HOTFIX: Final = "task:hotfix-7"
MANAGER: Final = "package_manager"
TARGET: Final = "deploy_target"
REGION: Final = "region"

LAST_YEAR: Final = "2025-09-01T00:00:00Z"
JUNE: Final = "2026-06-15T00:00:00Z"
JULY: Final = "2026-07-10T00:00:00Z"


def tell(scene: Set) -> None:
    """All scenes, in order."""
    scene.stage.chapter("An agent's memory")
    _switch(scene)
    _late(scene)
    _this_time_only(scene)
    left = _contradiction(scene)
    _withdrawal(scene, *left)
    _revoked_before_said(scene)


def _switch(scene: Set) -> None:
    stage, client = scene.stage, scene.client
    stage.tell('In January Ana says: "we use npm". In June: "from 1 July on we use pnpm".')
    stage.call(
        'client.assert_fact("ana", "package_manager", "pnpm", source="chat-42",\n'
        '                   scope="repo:acme/web", succession="automatic",\n'
        '                   valid_from="2026-07-01T00:00:00Z")\n'
        'client.resolve("ana", "package_manager", scope="repo:acme/web", valid_at=…)'
    )
    _say(scene, "npm", "2026-01-12T00:00:00Z", "chat-17")
    _say(scene, "pnpm", "2026-07-01T00:00:00Z", "chat-42")
    stage.answer("in June?", client.resolve(ANA, MANAGER, scope=WEB, valid_at=JUNE), expected="npm")
    stage.answer("in July?", client.resolve(ANA, MANAGER, scope=WEB, valid_at=JULY), expected="pnpm")


def _late(scene: Set) -> None:
    stage, client = scene.stage, scene.client
    stage.tell('Only now an old note turns up: "we use yarn", of March 2025. It arrives last and is not the last word.')
    before = _now()
    _say(scene, "yarn", "2025-03-01T00:00:00Z", "note-3")
    stage.answer("in July?", client.resolve(ANA, MANAGER, scope=WEB, valid_at=JULY), expected="pnpm")
    stage.answer("in 2025?", client.resolve(ANA, MANAGER, scope=WEB, valid_at=LAST_YEAR), expected="yarn")
    earlier = client.resolve(ANA, MANAGER, scope=WEB, valid_at=LAST_YEAR, as_of=before)
    stage.answer("in 2025, as known before the note?", earlier, expected="unknown: not_yet_valid")


def _say(scene: Set, value: str, valid_from: str, source: str) -> None:
    scene.client.assert_fact(
        ANA, MANAGER, value, scope=WEB, succession="automatic", valid_from=valid_from, source=source
    )


def _this_time_only(scene: Set) -> None:
    stage, client = scene.stage, scene.client
    stage.tell('Another repository stays with npm; "pnpm, this time only" is bound to one task, so it leaks nowhere.')
    stage.call(
        'client.assert_fact("ana", "package_manager", "pnpm", source="chat-51",\n'
        '                   scope="task:hotfix-7")\n'
        'client.resolve("ana", "package_manager",\n'
        '               scope=["task:hotfix-7", "repo:acme/api"])'
    )
    client.assert_fact(ANA, MANAGER, "npm", scope=API, source="chat-50")
    client.assert_fact(ANA, MANAGER, "pnpm", scope=HOTFIX, source="chat-51")
    in_task = client.resolve(ANA, MANAGER, scope=[HOTFIX, API])
    stage.answer("inside the task?", in_task, expected="pnpm")
    stage.answer("in the repository?", client.resolve(ANA, MANAGER, scope=API), expected="npm")
    other = client.resolve(ANA, MANAGER, scope=["task:hotfix-8", API])
    stage.answer("in the next task?", other, expected="npm")


def _contradiction(scene: Set) -> tuple[str, str]:
    stage, client = scene.stage, scene.client
    stage.tell("Two sources disagree, and neither says that it replaces the other. Nothing is guessed: it is asked.")
    facts = [
        {"subject": ANA, "key": TARGET, "value": value, "scope": WEB, "source": source}
        for value, source in (("fly.io", "readme"), ("render", "wiki"))
    ]
    client.assert_many(facts)
    contested = client.resolve(ANA, TARGET, scope=WEB)
    stage.answer("where is it deployed?", contested, expected="fly.io / render")
    if not isinstance(contested, Conflict):
        return "", ""
    by_value = {one.value: str(one.version_id) for one in contested.versions}
    fly, render = by_value["fly.io"], by_value["render"]
    stage.tell('Ana answers: "render".')
    stage.call(
        'client.resolve_conflict("ana", "deploy_target", fly, render, keep=render,\n'
        '                        scope="repo:acme/web", decided_at=now)'
    )
    client.resolve_conflict(
        ANA, TARGET, fly, render, scope=WEB, keep=render, decided_by=ANA, decided_at=_now(), reason="asked"
    )
    stage.answer("where is it deployed?", client.resolve(ANA, TARGET, scope=WEB), expected="render")
    return fly, render


def _withdrawal(scene: Set, fly: str, render: str) -> None:
    stage, client = scene.stage, scene.client
    if not (fly and render):
        return
    settled = _now()
    stage.tell("Later the wiki turns out to be wrong: the winner's source is withdrawn. The loser is back,")
    stage.call('client.revoke("ana", "deploy_target", render, scope="repo:acme/web")')
    client.revoke(ANA, TARGET, render, scope=WEB, reason="the wiki was a copy of another project's")
    stage.answer("where is it deployed?", client.resolve(ANA, TARGET, scope=WEB), expected="fly.io")
    stage.tell("while what was known then stays what was known then:")
    then = client.resolve(ANA, TARGET, scope=WEB, valid_at=settled, as_of=settled)
    stage.answer("the same, as known then?", then, expected="render")


def _revoked_before_said(scene: Set) -> None:
    stage, client = scene.stage, scene.client
    stage.tell("Messages overtake one another. Here a revocation arrives before what it revokes, and still counts.")
    claim = {"value": "eu-west-1", "source": "export-9"}
    version_id = client.ids.version_id(ANA, REGION, claim["value"], scope=WEB, source=claim["source"])
    stage.call(
        'claim = client.ids.version_id("ana", "region", "eu-west-1",\n'
        '                              scope="repo:acme/web", source="export-9")\n'
        'client.revoke("ana", "region", claim, scope="repo:acme/web")\n'
        'client.assert_fact("ana", "region", "eu-west-1",\n'
        '                   scope="repo:acme/web", source="export-9")'
    )
    client.revoke(ANA, REGION, version_id, scope=WEB, reason="a wrong export")
    early = client.resolve(ANA, REGION, scope=WEB)
    stage.answer("after the revocation alone?", early, expected="unknown: never_recorded")
    client.assert_fact(ANA, REGION, claim["value"], scope=WEB, source=claim["source"])
    stage.answer("after both?", client.resolve(ANA, REGION, scope=WEB), expected="unknown: revoked")


def _now() -> datetime:
    """Between what the log has so far and what comes next: it keeps milliseconds."""
    time.sleep(0.02)
    now = datetime.now(UTC)
    time.sleep(0.02)
    return now

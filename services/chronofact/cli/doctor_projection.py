"""What the doctor says of projections: how far behind the log, who is asked, what is parked, the last check."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from chronofact.cli.counted import counted
from chronofact.embedded.checks import Check

if TYPE_CHECKING:
    from chronofact.contracts.checking import Run
    from chronofact.contracts.rebuilding import RebuildTold
    from chronofact.contracts.topics import Topic

STILL_S: Final = 2.0
"""How long a partition with unread messages may stand still while it is looked at."""
LONG_S: Final = 1_800.0
"""A session in one transaction for so long is told: a verification of large tables may be."""
GROWING_MESSAGES_MAX: Final = 10_000
CHECK_AGE_MAX: Final = timedelta(hours=36)
_AWAY: Final = "Kafka and Postgres have to be well first"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where to look; ``feeds`` restricts what the services here feed, ``is_stack`` when no other service can feed it too."""

    kafka: str
    postgres: str
    facts: Topic
    kafka_options: Mapping[str, str]
    fed: str
    """The configured projection, whose parked messages and last check are told where no tenant reads any."""
    is_stack: bool
    feeds: Collection[str] = ()


def projection_checks(of: Surroundings) -> Iterator[Check]:
    """Rebuilds, lag, routes, parked, last check, fold, sessions; none of them waits for a server that is away for long."""
    from chronofact.runtime.failures import Transient, Unfit

    looks: dict[str, Callable[[Surroundings], Check]] = {
        "projections": _projections,
        "rebuilds": _rebuilds,
        "lag": _lag,
        "routes": _routes,
        "parked": _parked,
        "last check": _last_check,
        "fold": _fold,
        "sessions": _sessions,
    }
    is_away = False
    for name, look in looks.items():
        try:
            yield Check(name, "skipped", _AWAY) if is_away else look(of)
        except (Transient, Unfit) as failure:
            # all of them ask Postgres, and each would wait for it
            is_away = failure.code == "postgres_away"
            yield Check(name, "skipped", _AWAY)


def _sessions(of: Surroundings) -> Check:
    from chronofact.postgres.standing import Standing

    return sessions_told(Standing(of.postgres).long_sessions(LONG_S))


def sessions_told(found: Sequence[tuple[str, datetime, int]]) -> Check:
    """Whether one of ours keeps vacuum from its work, as a process that stands still may."""
    if not found:
        return Check("sessions", "ok", "none of ours keeps vacuum from its work")
    told = "; ".join(f"{name} since {since:%Y-%m-%d %H:%M}Z" for name, since, _ in found)
    remedy = f"where its process stands still, kill it, or: select pg_terminate_backend({found[0][2]})"
    return Check("sessions", "skipped", f"vacuum waits for {told}", remedy)


def _projections(of: Surroundings) -> Check:
    from chronofact.postgres.standing import Standing

    return projections_told(Standing(of.postgres).projections())


def projections_told(found: Sequence[tuple[str, str, int, int, datetime | None]]) -> Check:
    """What there is, and who reads it."""
    told = []
    for name, state, rule, routes, left_at in found:
        left = f", left {left_at:%Y-%m-%d %H:%M}Z" if left_at and not routes else ""
        told.append(f"{name} {state}, rule {rule}, {counted(routes, 'route') if routes else 'no route'}{left}")
    failed = [name for name, state, *_ in found if state == "failed"]
    if failed:
        return Check("projections", "failed", "; ".join(told), "chronofact rebuild list tells why and what helps")
    return Check("projections", "ok", "; ".join(told) or "none yet")


def _rebuilds(of: Surroundings) -> Check:
    from chronofact.postgres.rebuild_store import RebuildStore

    return rebuilds_told(RebuildStore(of.postgres).rebuilds())


def rebuilds_told(found: Sequence[RebuildTold]) -> Check:
    """What is at work, and whether who works on it stands still."""
    still = [one for one in found if one.stood is not None]
    at_work = [one for one in found if one in still or not one.rebuild.state.is_over]
    if not at_work:
        return Check("rebuilds", "ok", "none is at work")
    told = "; ".join(f"{one.rebuild.rebuild_id} of {one.rebuild.projection} {one.rebuild.state}" for one in at_work)
    if not still:
        return Check("rebuilds", "ok", told)
    whose = "; ".join(_standing(one) for one in still)
    remedy = "another reconciler goes on with it by itself; where there is none, kill this one and start it again"
    return Check("rebuilds", "failed", f"{told}; {whose}", remedy)


def _standing(one: RebuildTold) -> str:
    number = one.rebuild.rebuild_id
    if one.still is not None:
        return f"the reconciler of {number} stands still since {one.still.since:%Y-%m-%d %H:%M:%S}Z"
    return (
        "" if one.idle is None else f"nobody has done anything for {number} since {one.idle.since:%Y-%m-%d %H:%M:%S}Z"
    )


def _lag(of: Surroundings) -> Check:
    from chronofact.kafka.admin import Admin
    from chronofact.postgres.standing import Standing

    standing, admin = Standing(of.postgres), Admin(of.kafka, timeout_s=3, options=of.kafka_options)
    made_of = standing.made_of()
    # one of a topic that is moved to, or away from, is fed from that one
    topics = {name: admin.made_of(made_of.get(name), of.facts) for name in sorted({*_fed(of), *standing.routed()})}

    def behind() -> dict[tuple[str, int], tuple[int, int]]:
        """Messages behind and the next offset, by projection and partition."""
        states = {topic.name: admin.state(topic) for topic in topics.values()}
        found = {}
        for name, topic in topics.items():
            ends = states[topic.name]
            reached = standing.checkpoints(name, ends.topic_id)
            for partition, end in ends.high_watermarks.items():
                at = reached.get(partition, ends.low_watermarks.get(partition, 0))
                found[name, partition] = max(0, end - at), at
        return found

    before = behind()
    if any(lag for lag, _ in before.values()):
        time.sleep(STILL_S)
        return lag_told(before, behind())
    return Check("lag", "ok", f"{', '.join(_of_topic(topics, of.facts))}: all of the log is applied")


def _of_topic(topics: Mapping[str, Topic], facts: Topic) -> Iterator[str]:
    """Each projection, with its topic where that is not the configured one."""
    for name, topic in topics.items():
        yield name if topic.name == facts.name else f"{name} of {topic.name}"


def lag_told(
    before: Mapping[tuple[str, int], tuple[int, int]], after: Mapping[tuple[str, int], tuple[int, int]]
) -> Check:
    """What two looks say, each of messages behind and the next offset."""
    was, now = (sum(lag for lag, _ in look.values()) for look in (before, after))
    still = [
        place for place, (lag, at) in after.items() if lag and before.get(place, (0, -1))[0] and before[place][1] == at
    ]
    change = ", growing" if now > was else ", falling" if now < was else ""
    told = f"{counted(now, 'message')} behind the log{change}"
    remedy = "does every projector stay up? see their lines below, and logs/projector.log"
    if still:
        where = ", ".join(f"{name} partition {partition}" for name, partition in still[:4])
        more = f" and {len(still) - 4} more" if len(still) > 4 else ""
        return Check("lag", "failed", f"{told}; nothing was applied for {STILL_S:g} s in {where}{more}", remedy)
    if now > was and now > GROWING_MESSAGES_MAX:
        return Check("lag", "failed", told, remedy)
    return Check("lag", "ok", told)


def _fed(of: Surroundings) -> list[str]:
    """The projections that projectors feed, each for itself."""
    from chronofact.postgres.standing import Standing

    return [name for name, _, _ in Standing(of.postgres).folds() if not of.feeds or name in of.feeds]


def _routes(of: Surroundings) -> Check:
    from chronofact.postgres.standing import Standing

    return routes_told(Standing(of.postgres).routed(), _fed(of), is_stack=of.is_stack)


def routes_told(routed: Sequence[str], fed: Collection[str], *, is_stack: bool) -> Check:
    """Whether what is asked is what is fed."""
    feed = ", ".join(fed) or "none"
    unfed = [name for name in routed if name not in fed]
    if not unfed:
        return Check("routes", "ok", f"reads go to {', '.join(routed) or 'none'}; projectors feed {feed}")
    told = f"tenants are routed to {', '.join(unfed)}, the projectors here feed {feed}"
    if not is_stack:
        return Check("routes", "ok", f"{told}: others have to feed {', '.join(unfed)}")
    remedy = f"let CHRONOFACT_FEEDS name {unfed[0]} too, or switch back: chronofact rollback"
    return Check("routes", "failed", f"{told}: answers of {', '.join(unfed)} stand still and don't say so", remedy)


def _parked(of: Surroundings) -> Check:
    from chronofact.postgres.parking_store import ParkingStore

    names = _asked(of)
    for name in names:
        with ParkingStore(of.postgres, name) as store:
            messages, facts = store.counts()
        if messages:
            are = "is" if messages == 1 else "are"
            told = f"{counted(messages, 'message')} {are} parked in {name}, {counted(facts, 'fact')} held"
            where = "" if name == names[0] else f" --projection {name}"
            return Check("parked", "failed", told, f"chronofact parked list{where}")
    return Check("parked", "ok", f"no message is parked in {', '.join(names)}")


def _last_check(of: Surroundings) -> Check:
    from chronofact.postgres.check_store import CheckStore

    store, now = CheckStore(of.postgres), datetime.now(UTC)
    told = [last_check_told(store.last_finished(name), name, now) for name in _asked(of)]
    return min(told, key=lambda one: ("failed", "skipped", "ok").index(one.state))


def _asked(of: Surroundings) -> list[str]:
    """What tenants read."""
    from chronofact.postgres.standing import Standing

    return Standing(of.postgres).routed() or [of.fed]


def last_check_told(run: Run | None, projection: str, now: datetime) -> Check:
    """How old it is, and what it found."""
    if run is None or run.finished_at is None:
        return Check("last check", "skipped", f"no check of {projection} has finished yet", "chronofact check run")
    age = now - run.finished_at
    hours = age / timedelta(hours=1)
    old = f"{hours:.0f} h ago" if hours >= 1 else f"{age / timedelta(minutes=1):.0f} min ago"
    told = f"{old}: {counted(run.tally.divergences, 'divergence')} in {counted(run.tally.facts, 'fact')}"
    if run.tally.divergences:
        return Check("last check", "failed", told, f"chronofact check show {run.run_id}; docs/operations/divergence.md")
    if age > CHECK_AGE_MAX:
        return Check("last check", "skipped", told, "chronofact check run")
    return Check("last check", "ok", told)


def _fold(of: Surroundings) -> Check:
    from chronofact.domain.rules import RULES
    from chronofact.postgres.standing import Standing
    from chronofact.runtime.fingerprint import fold_fingerprint

    return fold_told(Standing(of.postgres).folds(), {rule: fold_fingerprint(rule) for rule in RULES})


def fold_told(folds: Sequence[tuple[str, int, str | None]], own: Mapping[int, str]) -> Check:
    """Whether the fold of this code, by rule, is the one that filled each projection (docs/rules.md)."""
    unknown = [name for name, rule, _ in folds if rule not in own]
    if unknown:
        told = f"{', '.join(unknown)}: of a rule that this version does not know, so nothing feeds or folds them here"
        return Check("fold", "failed", told, "run the version that made them, or rebuild them")
    others = [name for name, rule, fingerprint in folds if fingerprint != own[rule]]
    if others:
        told = f"{', '.join(others)}: filled by the fold of another version"
        return Check("fold", "skipped", told, "chronofact rebuild start, to be sure; docs/rules.md")
    rules = ", ".join(f"{name} by rule {rule}" for name, rule, _ in folds)
    return Check("fold", "ok", f"{rules or 'no projection'}: filled by this very fold")

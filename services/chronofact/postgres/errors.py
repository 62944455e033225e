"""What a failure of Postgres means for the caller: repeat, give up these lines, fix the surroundings, or stop."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import psycopg
from psycopg_pool import PoolClosed, PoolTimeout, TooManyRequests

from chronofact.runtime.failures import ConstraintBroken, Corruption, Transient, Unfit

_BUSY: Final = {"25P03", "25P04", "55P03", "57014", "57P05"}
"""A lock or a statement took too long, or an idle session was ended: by itself it passes."""
_BUSY_CLASSES: Final = {"40": "postgres_serialization", "53": "postgres_resources", "58": "postgres_io"}
_AWAY_CLASSES: Final = {"08", "57"}
_REFUSALS: Final = ("does not exist", "authentication failed", "no pg_hba.conf entry", "permission denied")
"""A refused connection comes without SQLSTATE, only as text; in another language it reads as one that is away."""
_INTERNAL: Final = "XX000"
"""What Postgres has no state for, a quota (EDQUOT) and a limit on a file's size (EFBIG) among it: nothing was written."""
_CORRUPT_CLASS: Final = "XX"
_DATA_CLASSES: Final = {"22", "23", "54"}


@contextmanager
def failures_named() -> Iterator[None]:
    """Turns every psycopg error inside into Transient, ConstraintBroken, Unfit or Corruption."""
    try:
        yield
    except (PoolTimeout, PoolClosed, TooManyRequests) as error:
        raise Transient("postgres_away", "no connection to Postgres in time") from error
    except psycopg.Error as error:
        raise named(error) from error


def not_routed() -> Unfit:
    """No line of the routes says where the tenant's reads go."""
    return Unfit(
        "tenant_not_routed",
        "no projection serves this tenant",
        remedy="run `chronofact migrate`; where one is being rebuilt, wait for it: `chronofact rebuild status`",
    )


def named(error: psycopg.Error) -> Exception:
    """Our failure for an error of psycopg; it holds no value of a fact."""
    state = error.sqlstate
    if state is None:
        return _without_state(error)
    if state == _INTERNAL:
        return Transient("postgres_unexpected", "Postgres reports an internal error; its log tells which")
    if state[:2] == _CORRUPT_CLASS:
        return Corruption(f"Postgres reports damage by SQLSTATE {state}")
    if state in _BUSY:
        return Transient("postgres_busy", f"Postgres gave up waiting, SQLSTATE {state}")
    if state[:2] in _BUSY_CLASSES:
        return Transient(_BUSY_CLASSES[state[:2]], f"Postgres can't go on now, SQLSTATE {state}")
    if state[:2] in _AWAY_CLASSES:
        return Transient("postgres_away", f"Postgres is going or gone, SQLSTATE {state}")
    if state[:2] in _DATA_CLASSES:
        return ConstraintBroken(error.diag.constraint_name or state)
    return _unfit(state)


def _without_state(error: psycopg.Error) -> Exception:
    if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        if 'database "' in str(error) and "does not exist" in str(error):
            return _unfit("3D000")
        if any(one in str(error) for one in _REFUSALS):
            return _unfit("28000")
        return Transient("postgres_away", "Postgres can't be reached, or the connection broke")
    if isinstance(error, psycopg.DataError):
        return ConstraintBroken(type(error).__name__)
    # psycopg's own refusal of how it was called: no event is to blame for that
    return Corruption(f"psycopg refuses our call: {type(error).__name__}")


def _unfit(state: str) -> Unfit:
    if state in {"3F000", "42P01", "42703", "42883"}:
        return Unfit(
            "postgres_not_migrated",
            f"a table or function is missing, SQLSTATE {state}",
            remedy="run `chronofact migrate`; if the database was lost, see docs/operations/lost-database.md first",
        )
    if state[:2] == "3D":
        return Unfit(
            "postgres_refuses",
            f"Postgres has no such database, SQLSTATE {state}",
            remedy="check CHRONOFACT_POSTGRES; if the database was lost, see docs/operations/lost-database.md",
        )
    if state[:2] == "28" or state == "42501":
        return Unfit(
            "postgres_refuses",
            f"Postgres refuses these credentials, SQLSTATE {state}",
            remedy="check CHRONOFACT_POSTGRES",
        )
    return Unfit(
        "postgres_unexpected", f"Postgres refuses the statement, SQLSTATE {state}", remedy="see the log of Postgres"
    )

"""What a writer that takes texts has beside its log."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from chronofact.writer.notices import Notices
from chronofact.writer.texts import Texts

_LEAVE_S: Final = 2.0


@dataclass(frozen=True, slots=True)
class TextSide:
    """Who reads texts, and who is told of memories that the log has."""

    texts: Texts
    notices: Notices
    close_log: Callable[[], None]

    async def close(self) -> None:
        """Refuses texts that are not begun, and ends what tells of memories."""
        self.texts.close()
        await self.notices.settled(_LEAVE_S)
        await asyncio.to_thread(self.close_log)

"""Makes the first start as fast as any, and free of the network: `python -m chronofact.embedded.prefetch`."""

from __future__ import annotations

import sys

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

from chronofact.embedded.cache import cache_folder
from chronofact.embedded.errors import EmbeddedError
from chronofact.embedded.jars import KAFKA_VERSION, ensure_jars
from chronofact.embedded.warmth import warm_up


def main() -> int:
    """Exit code 1 when they can't be had."""
    console = Console(stderr=True)
    columns = TextColumn("{task.description}"), BarColumn(), DownloadColumn()
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(f"Kafka {KAFKA_VERSION}", total=None)
        try:
            folder = ensure_jars(cache_folder(), lambda done, total: bar.update(task, completed=done, total=total))
        except EmbeddedError as error:
            console.print(f"{error}\n{error.remedy}", style="red", markup=False)
            return 1
    with console.status("warming up Kafka"):
        is_warm = warm_up(cache_folder(), folder)
    state = "warm" if is_warm else "cold: it starts all the same, some seconds later"
    console.print(f"Kafka {KAFKA_VERSION} is in {folder}, {state}", markup=False, highlight=False, soft_wrap=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

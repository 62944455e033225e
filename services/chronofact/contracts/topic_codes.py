"""Codes of bringing a topic to its messages: a move to more partitions, and a refill; part of the closed list."""

from __future__ import annotations

from typing import Final

TOPIC_CODES: Final = {
    "topic_closed": (
        "The topic takes no more messages: it was moved to another one.",
        "name that one in CHRONOFACT_FACTS_TOPIC and CHRONOFACT_FACTS_PARTITIONS: docs/operations/more-partitions.md",
    ),
    "copy_differs": (
        "The topic that is copied to holds what the copy did not put there.",
        "delete that topic and copy anew, by one `chronofact topics copy` at a time",
    ),
    "copy_running": (
        "Another process copies into the topic, or one was killed some seconds ago.",
        "let it come to its end, or end it; then say `chronofact topics copy` again",
    ),
    "copy_sealed": (
        "The topic that is to be copied to is sealed.",
        "nothing is left to be copied: start the writers on it (docs/operations/more-partitions.md)",
    ),
    "copy_unknown": (
        "A move that is to be taken back is not known: nobody copied the one topic into the other.",
        "name the new topic by `chronofact topics reopen --to`, the old one in CHRONOFACT_FACTS_TOPIC",
    ),
    "copy_written": (
        "A move can't be taken back any more: the new topic alone has some messages.",
        "go on with the new topic",
    ),
    "projection_partitions_differ": (
        "The projection was made for a topic of fewer partitions.",
        "make one for this topic: `chronofact rebuild start`",
    ),
    "topic_not_empty": (
        "The topic that is to be refilled holds messages that this refill did not put there.",
        "stop all writers; name an empty topic by `chronofact topics refill --to`, or delete this one",
    ),
    "refill_disturbed": (
        "Somebody else wrote to a topic while it was refilled.",
        "stop all writers, delete the topic, and refill once more: docs/operations/lost-broker-disk.md",
    ),
    "refill_own_topic": (
        "The topic that is to be refilled is the one that the projection was made of.",
        "there is nothing to refill; name another topic by `chronofact topics refill --to` to make a copy",
    ),
    "refill_source_unfit": (
        "A projection that a topic is to be refilled from is not whole, or of no one topic.",
        "refill from another projection: `chronofact doctor` tells which there are",
    ),
    "refill_source_damaged": (
        "A projection that a topic is to be refilled from lacks events, or has some that are not their own.",
        "refill from another projection of the topic, or restore the database",
    ),
    "refill_lacks": (
        "Messages that were in the log are known not to be in the projection that a topic is to be refilled from.",
        "refill from the projection that holds more, or go on without them by `--accept-loss`",
    ),
}

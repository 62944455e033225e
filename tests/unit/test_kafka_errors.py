"""What an error of Kafka's client means for who reads."""

from __future__ import annotations

import pytest
from confluent_kafka import KafkaError

from chronofact.kafka.errors import failure_of
from chronofact.runtime.failures import Transient, Unfit


@pytest.mark.parametrize(
    ("code", "kind", "said"),
    [
        (KafkaError.OFFSET_OUT_OF_RANGE, Unfit, "offset_out_of_range"),
        (KafkaError.UNKNOWN_TOPIC_OR_PART, Unfit, "topic_missing"),
        (KafkaError.TOPIC_AUTHORIZATION_FAILED, Unfit, "kafka_refuses"),
        (KafkaError.GROUP_AUTHORIZATION_FAILED, Unfit, "kafka_refuses"),
        (KafkaError.SASL_AUTHENTICATION_FAILED, Unfit, "kafka_refuses"),
        (KafkaError.FENCED_INSTANCE_ID, Transient, "kafka_consumer"),
    ],
)
def test_an_error_is_named_by_who_can_do_something_about_it(code: int, kind: type[Exception], said: str) -> None:
    failure = failure_of(KafkaError(code))
    assert (type(failure), failure.code) == (kind, said)

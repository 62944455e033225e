"""How Faust reaches Kafka, from the options that librdkafka is given."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from typing import Any, Final

import faust

from chronofact.runtime.failures import Unfit

_MECHANISMS: Final = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
_CERTIFICATES: Final = ("ssl.ca.location", "ssl.certificate.location", "ssl.key.location", "ssl.key.password")


def broker_settings(bootstrap: str, options: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Faust's settings for these addresses; options that say nothing of security are librdkafka's alone.

    Raises:
        Unfit: a way of security that Faust's client does not know.
    """
    options = options or {}
    brokers = ";".join(f"kafka://{one.strip()}" for one in bootstrap.split(","))
    protocol = options.get("security.protocol", "plaintext").lower()
    if protocol == "plaintext":
        return {"broker": brokers}
    context = _context(options) if protocol.endswith("ssl") else None
    if protocol == "ssl":
        return {"broker": brokers, "broker_credentials": faust.SSLCredentials(context)}
    mechanism = options.get("sasl.mechanism", options.get("sasl.mechanisms", "PLAIN")).upper()
    if not protocol.startswith("sasl_") or mechanism not in _MECHANISMS:
        raise Unfit(
            "kafka_options_unknown",
            f"the adjudicator does not speak security.protocol={protocol} with sasl.mechanism={mechanism}",
            remedy=f"use one of {', '.join(_MECHANISMS)} in CHRONOFACT_KAFKA_OPTIONS",
        )
    credentials = faust.SASLCredentials(
        username=options.get("sasl.username"),
        password=options.get("sasl.password"),
        mechanism=mechanism,
        ssl_context=context,
    )
    return {"broker": brokers, "broker_credentials": credentials}


def _context(options: Mapping[str, str]) -> ssl.SSLContext:
    authority, certificate, key, password = (options.get(name) for name in _CERTIFICATES)
    context = ssl.create_default_context(cafile=authority)
    if certificate is not None:
        context.load_cert_chain(certificate, key, password)
    if options.get("ssl.endpoint.identification.algorithm", "https") == "none":
        context.check_hostname = False
    return context

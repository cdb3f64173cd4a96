"""What operators see: metrics by the field's conventions, and one line of JSON for each request."""

from __future__ import annotations

import sys
from typing import Any, TextIO

import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram


class Metrics:
    """The metrics of one process. No label names a tenant, a session or a key: their number is not bounded."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        self.operations = Counter(
            "memory_operations", "Requests, by operation and outcome.", ("operation", "outcome"), registry=registry
        )
        self.context_seconds = Histogram(
            "context_reconstruction_duration_seconds", "Time to load a context.", registry=registry
        )
        self.handoffs = Counter("handoffs", "Handoffs, by what became of them.", ("outcome",), registry=registry)
        self.storage = Gauge("storage_usage_bytes", "Bytes of entries, by level.", ("level",), registry=registry)
        self.sessions = Gauge("active_sessions", "Contexts that exist.", registry=registry)
        self.sockets = Gauge("websocket_connections", "Open event streams.", registry=registry)
        self.resyncs = Counter("events_resync_required", "Streams told to load the state again.", registry=registry)
        self.lag = Histogram("event_delivery_lag_seconds", "From an event to its delivery.", registry=registry)
        self.background_failures = Counter(
            "background_failures", "Failed runs of background work.", ("job",), registry=registry
        )


def request_log(stream: TextIO | None = None) -> Any:
    """A logger whose lines have the members of the specification: timestamp, level, service, operation, …"""
    return structlog.wrap_logger(
        structlog.PrintLogger(stream or sys.stderr),
        processors=[
            structlog.processors.add_log_level,
            _spelled,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(),
        ],
        cache_logger_on_first_use=True,
        service="memory-api",
    )


def _spelled(_: Any, __: str, line: Any) -> Any:
    line["level"] = line["level"].upper()
    line["operation"] = line.pop("event")
    return line

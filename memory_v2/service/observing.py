"""What operators see: metrics by the field's conventions, and one line of JSON for each request."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from typing import Any, TextIO

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


class RequestLog:
    """Writes lines with the members of the specification: timestamp, level, service, operation, …"""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr

    def write(self, level: str, operation: str, **members: Any) -> None:
        """A line, at once."""
        moment = datetime.now(UTC).isoformat().replace("+00:00", "Z")
        line = {"timestamp": moment, "level": level, "service": "memory-api", "operation": operation, **members}
        self._stream.write(json.dumps(line) + "\n")
        self._stream.flush()

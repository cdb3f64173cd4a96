"""Spans for OpenTelemetry, with the extra `otel`, if its environment variables name an endpoint; else nothing of it is
imported. A span says which operation it was, on which session and with what outcome; never what was stored or asked."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from memory_v2.errors import InvalidSetting

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
INSTALL = "pip install 'silica-memory[service,otel]'"
SERVICE = "memory-api"
_GENERATIVE = {
    "context_load": "search_memory",
    "query": "search_memory",
    "search": "search_memory",
    "entry_create": "create_memory",
    "entry_batch": "create_memory",
    "context_create": "create_memory",
    "context_replace": "update_memory",
    "context_patch": "update_memory",
    "entry_patch": "update_memory",
    "context_delete": "delete_memory",
    "entry_delete": "delete_memory",
}
"""What the conventions for generative AI call an operation."""


class Tracing:
    """Makes spans by one provider, which is not the global one: other libraries do not report through it."""

    def __init__(self, provider: TracerProvider) -> None:
        from opentelemetry.trace import SpanKind
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        self._provider, self._kind = provider, SpanKind.SERVER
        self._propagator = TraceContextTextMapPropagator()
        self._tracer = provider.get_tracer("memory_v2.service")

    def record(self, operation: str, line: Mapping[str, Any], headers: Mapping[str, str], started: int) -> None:
        """The span of a request that has just ended, from its line in the log; `started` in nanoseconds since 1970. It
        belongs to the trace that the request's `traceparent` names."""
        parent = self._propagator.extract({"traceparent": headers.get("traceparent", "")})
        span = self._tracer.start_span(operation, parent, self._kind, start_time=started)
        attributes = {
            "http.response.status_code": line["http_status"],
            "gen_ai.operation.name": _GENERATIVE.get(operation),
            "gen_ai.conversation.id": line["session_id"],
            "memory.request.id": line["request_id"],
            "error.type": str(line["http_status"]) if line["status"] == "error" else None,
        }
        span.set_attributes({name: value for name, value in attributes.items() if value is not None})
        span.end()

    def close(self) -> None:
        """Sends what is not sent yet."""
        self._provider.shutdown()


def tracing_from(environment: Mapping[str, str] = os.environ) -> Tracing | None:
    """Tracing as the environment asks for it, or none. Raises `InvalidSetting` if the extra is missing."""
    if not any(environment.get(name) for name in ENDPOINTS):
        return None
    if find_spec("opentelemetry.sdk") is None or find_spec("opentelemetry.exporter") is None:
        raise InvalidSetting(f"OTEL_EXPORTER_OTLP_ENDPOINT is set, but not installed: {INSTALL}")
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider(resource=Resource.create({"service.name": environment.get("OTEL_SERVICE_NAME", SERVICE)}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return Tracing(provider)

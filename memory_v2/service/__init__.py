"""The memory as a service for many agents: REST, WebSocket and SSE over `Memory` and one store. It needs the extra
`service`, and nothing outside this room imports it but the verb that starts it."""

"""The client's own model decides: what a model is asked becomes a sampling request with tools."""

from __future__ import annotations

from collections.abc import Iterator

from mcp_types import (
    ClientCapabilities,
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    CreateMessageResultWithTools,
    SamplingMessage,
    TextContent,
    Tool,
    ToolResultContent,
    ToolUseContent,
)

from memory_v2.models.base import (
    AssistantMessage,
    Conversation,
    Reply,
    StopReason,
    ToolCall,
    ToolResult,
    UserMessage,
)
from memory_v2.models.estimate import with_usage
from memory_v2.models.provider import MAX_OUTPUT_TOKENS, NOTHING

_STOP: dict[str | None, StopReason] = {
    "endTurn": "end",
    "stopSequence": "end",
    "toolUse": "tool_use",
    "maxTokens": "length",
}


def is_offered(capabilities: ClientCapabilities | None) -> bool:
    """Whether a client answers sampling requests with tools."""
    sampling = capabilities.sampling if capabilities else None
    return sampling is not None and sampling.tools is not None


def as_request(conversation: Conversation) -> CreateMessageRequest:
    """The conversation as a sampling request."""
    return CreateMessageRequest(
        params=CreateMessageRequestParams(
            messages=list(_messages(conversation)),
            system_prompt=conversation.system.text,
            max_tokens=MAX_OUTPUT_TOKENS,
            tools=[
                Tool(name=tool.name, description=tool.description, input_schema=dict(tool.schema))
                for tool in conversation.tools
            ],
        )
    )


def as_reply(result: CreateMessageResult | CreateMessageResultWithTools, conversation: Conversation) -> Reply:
    """The client's answer as a model's. Its tokens are estimated, and its price is unknown."""
    content = result.content if isinstance(result.content, list) else [result.content]
    reply = Reply(
        text="\n".join(one.text for one in content if isinstance(one, TextContent)),
        tool_calls=tuple(ToolCall(c.name, c.input, c.id) for c in content if isinstance(c, ToolUseContent)),
        stop_reason=_STOP.get(result.stop_reason, "other"),
        money=None,
        raw=result.model_dump(mode="json", by_alias=True, exclude_none=True),
    )
    return with_usage(reply, conversation, lambda usage: None)


def _messages(conversation: Conversation) -> Iterator[SamplingMessage]:
    """The messages. All results of an answer's calls are one message, which holds nothing else."""
    results: list[ToolResultContent] = []
    for message in conversation.messages:
        if isinstance(message, ToolResult):
            results.append(
                ToolResultContent(
                    tool_use_id=message.call.id,
                    content=[TextContent(text=message.prompt.text)],
                    is_error=message.is_error,
                )
            )
            continue
        if results:
            yield SamplingMessage(role="user", content=[*results])
            results = []
        if isinstance(message, UserMessage):
            yield SamplingMessage(role="user", content=TextContent(text=message.prompt.text))
        else:
            yield _answer(message)
    if results:
        yield SamplingMessage(role="user", content=[*results])


def _answer(message: AssistantMessage) -> SamplingMessage:
    reply = message.reply
    calls = [ToolUseContent(name=call.name, id=call.id, input=dict(call.arguments)) for call in reply.tool_calls]
    said = [TextContent(text=reply.text or NOTHING)] if reply.text or not calls else []
    return SamplingMessage(role="assistant", content=[*said, *calls])

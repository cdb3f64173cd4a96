"""Every exception that an SDK can raise has been decided on: may it pass if it is tried again? One that the SDK adds
later fails a test here until somebody decides."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

import httpx
import pytest

from memory_v2.models import anthropic, litellm, openai
from memory_v2.models.provider import FAILED, Failure, translated

AGAIN, NEVER = True, False

ANTHROPIC = {
    "APIConnectionError": AGAIN,
    "APIError": NEVER,
    "APIResponseValidationError": AGAIN,
    "APIStatusError": NEVER,
    "APITimeoutError": AGAIN,
    "APIWebhookValidationError": NEVER,
    "AnthropicError": NEVER,
    "AuthenticationError": NEVER,
    "BadRequestError": NEVER,
    "CMEKContextUnavailableError": AGAIN,
    "CMEKKeyDisabledError": NEVER,
    "CMEKKeyNetworkBlockedError": NEVER,
    "CMEKKeyUnreachableError": AGAIN,
    "ClaudeCodeKeyCreatorNotMemberError": NEVER,
    "ClaudeCodeVersionTooOldError": NEVER,
    "ClientClosedRequestError": NEVER,
    "ConflictError": AGAIN,
    "ContentTooLargeError": NEVER,
    "ContractSpendLimitReachedError": AGAIN,  # by its status; a provider that knows better says so in a header
    "CredentialsError": NEVER,
    "EnforcedSpendLimitReachedError": AGAIN,
    "GatewayTimeoutError": AGAIN,
    "HTTPNotImplementedError": AGAIN,
    "IdentityTokenFileError": NEVER,
    "InternalServerError": AGAIN,
    "LinkedOrganizationBillingUnavailableError": NEVER,
    "LinkedOrganizationSpendLimitReachedError": NEVER,
    "NotFoundError": NEVER,
    "OrganizationOnHoldError": NEVER,
    "OrganizationTypeNotSupportedError": NEVER,
    "OverloadedError": AGAIN,
    "ParentOrganizationRequiredError": NEVER,
    "PaymentRequiredError": NEVER,
    "PermissionDeniedError": NEVER,
    "PreconditionFailedError": NEVER,
    "RampLimitExceededError": AGAIN,
    "RateLimitError": AGAIN,
    "RequestBodyEncodingInvalidError": NEVER,
    "RequestBodyEncodingUnsupportedError": NEVER,
    "RequestBodyTooLargeAfterDecodingError": NEVER,
    "RequestHeaderFieldsTooLargeError": NEVER,
    "RequestTimeoutError": AGAIN,
    "RetryableError": NEVER,  # raised by a middleware; there is none
    "SandboxEgressRestrictedError": NEVER,
    "ServiceUnavailableError": AGAIN,
    "UnprocessableEntityError": NEVER,
    "WorkloadIdentityError": NEVER,
    "WorkspaceHumanReviewDisabledError": NEVER,
}
OPENAI = {
    "APIConnectionError": AGAIN,
    "APIError": NEVER,
    "APIResponseValidationError": AGAIN,
    "APIStatusError": NEVER,
    "APITimeoutError": AGAIN,
    "AuthenticationError": NEVER,
    "BadRequestError": NEVER,
    "ConflictError": AGAIN,
    "ContentFilterFinishReasonError": NEVER,
    "InternalServerError": AGAIN,
    "InvalidWebhookSignatureError": NEVER,
    "LengthFinishReasonError": NEVER,
    "NotFoundError": NEVER,
    "OAuthError": NEVER,
    "OpenAIError": NEVER,
    "PermissionDeniedError": NEVER,
    "RateLimitError": AGAIN,
    "SubjectTokenProviderError": NEVER,
    "UnprocessableEntityError": NEVER,
    "WebSocketConnectionClosedError": NEVER,
    "WebSocketQueueFullError": NEVER,
}
LITELLM = {
    "APIConnectionError": AGAIN,
    "APIError": NEVER,
    "APIResponseValidationError": AGAIN,
    "AuthenticationError": NEVER,
    "BadGatewayError": AGAIN,
    "BadRequestError": NEVER,
    "BlockedPiiEntityError": NEVER,
    "BudgetExceededError": NEVER,
    "CallerCredentialAuthenticationError": NEVER,
    "CallerCredentialRateLimitError": AGAIN,
    "ContentPolicyViolationError": NEVER,
    "ContextWindowExceededError": NEVER,
    "EndpointNotSupportedByModelError": NEVER,
    "GuardrailRaisedException": NEVER,
    "ImageFetchError": NEVER,
    "InternalServerError": AGAIN,
    "InvalidRequestError": NEVER,
    "JSONSchemaValidationError": AGAIN,
    "LiteLLMUnknownProvider": NEVER,
    "MalformedRequestFieldError": NEVER,
    "MidStreamFallbackError": AGAIN,
    "MockException": NEVER,
    "ModelNotMappedError": NEVER,
    "ModifyResponseException": NEVER,
    "NotFoundError": NEVER,
    "OpenAIError": NEVER,
    "PaymentRequiredError": NEVER,
    "PermissionDeniedError": NEVER,
    "RateLimitError": AGAIN,
    "RejectedRequestError": NEVER,
    "SensitiveDataRouteException": NEVER,
    "ServiceUnavailableError": AGAIN,
    "Timeout": AGAIN,
    "UnprocessableEntityError": NEVER,
    "UnsupportedEndpointError": NEVER,
    "UnsupportedParamsError": NEVER,
    "VectorStoreSearchError": NEVER,
}

Case = tuple[Sequence[str], Callable[[], tuple[Failure, ...]], Mapping[str, bool]]
CASES: dict[str, Case] = {
    "anthropic": (("anthropic", "anthropic._exceptions"), anthropic.failures, ANTHROPIC),
    "openai": (("openai", "openai._exceptions"), openai.failures, OPENAI),
    "litellm": (("litellm.exceptions",), litellm.failures, LITELLM),
}


@pytest.mark.parametrize(("modules", "failures", "decided"), CASES.values(), ids=CASES.keys())
def test_every_exception_of_the_sdk_is_known_and_tried_again_if_that_may_help(
    modules: Sequence[str], failures: Callable[[], tuple[Failure, ...]], decided: Mapping[str, bool]
) -> None:
    table = failures()  # first: this is where LiteLLM is told to fetch nothing when it is imported
    found = {kind.__name__: kind for module in modules for kind in exceptions(importlib.import_module(module))}
    assert not found.keys() - decided.keys(), "somebody has to decide whether this is tried again"
    assert len(found) > 15, "the walk finds the SDK's exceptions"
    for name, kind in found.items():
        error = made(kind)
        assert any(isinstance(error, line) for line, _, _ in table), name
        assert translated(error, table).retryable is decided[name], name


@pytest.mark.parametrize("failures", [case[1] for case in CASES.values()], ids=CASES.keys())
def test_no_line_of_a_table_hides_another(failures: Callable[[], tuple[Failure, ...]]) -> None:
    kinds = [kind for kind, _, _ in failures()]
    for number, kind in enumerate(kinds):
        assert not any(issubclass(kind, before) for before in kinds[:number]), f"{kind.__name__} is never reached"


def test_what_nobody_knows_is_called_by_its_name() -> None:
    error = translated(ZeroDivisionError("by nobody"), ())
    assert (str(error), error.retryable) == (f"it {FAILED} (ZeroDivisionError)", False)


def exceptions(module: ModuleType) -> list[type[Exception]]:
    """The exceptions that a module holds, of its own or of the package's."""
    package = module.__name__.partition(".")[0]
    held = [getattr(module, name) for name in dir(module) if not name.startswith("_")]
    return [
        one
        for one in held
        if inspect.isclass(one) and issubclass(one, Exception) and one.__module__.startswith(package)
    ]


def made(kind: type[Exception]) -> Exception:
    """An exception of this class as its SDK makes it: with the status that belongs to it, and whatever else it asks
    for."""
    usual = {"InternalServerError": 500, "APIResponseValidationError": 200}
    status = getattr(kind, "status_code", usual.get(kind.__name__, 418))
    headers = {} if kind.__module__.startswith("litellm") else {"server": "x"}  # it makes up responses, without any
    response = httpx.Response(status, headers=headers, request=httpx.Request("POST", "http://localhost/v1"))
    known: dict[str, Any] = {
        "response": response,
        "request": response.request,
        "status_code": 418,
        "completion": type("Completion", (), {"usage": None})(),
        "current_cost": 2.0,
        "max_budget": 1.0,
        "unsent_messages": [],
        "failures": [],
        "request_data": {},
        "original_exception": None,
        "custom_llm_provider": "some provider",
    }
    _, *parameters = inspect.signature(kind.__init__).parameters.values()
    asked = [p.name for p in parameters if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    return kind(**{name: known.get(name, "words") for name in asked})

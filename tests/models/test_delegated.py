"""A model that is somebody else: an answer counts if it is the first, and in time."""

from __future__ import annotations

import threading

import pytest

from memory_v2.errors import ModelError
from memory_v2.models.base import Conversation, Prompt, Reply
from memory_v2.models.briefs import SearchBrief
from memory_v2.models.delegated import DelegatedModel, DelegatedRequest
from tests.prompts.examples import NOW

CONVERSATION = Conversation(Prompt("done"), (), SearchBrief("?", 1, None, (), NOW, lambda path: 0))


def test_the_answer_comes_from_another_thread() -> None:
    def ask(question: DelegatedRequest) -> None:
        threading.Thread(target=question.answer, args=(Reply("April"),)).start()

    assert DelegatedModel("somebody", ask, 30).respond(CONVERSATION) == Reply("April")


def test_only_the_first_answer_counts() -> None:
    question = DelegatedRequest(CONVERSATION)
    assert question.answer(ModelError("gone"))
    assert not question.answer(Reply("too late"))
    assert not question.is_open
    with pytest.raises(ModelError, match="gone"):
        question.wait(0)


def test_an_answer_that_is_late_does_not_count() -> None:
    question = DelegatedRequest(CONVERSATION)
    with pytest.raises(ModelError, match="within 0 seconds"):
        question.wait(0)
    assert not question.answer(Reply("too late"))


def test_who_cannot_be_asked_fails_at_once() -> None:
    def ask(question: DelegatedRequest) -> None:
        raise ModelError("nobody is there")

    with pytest.raises(ModelError, match="nobody is there"):
        DelegatedModel("somebody", ask, 30).respond(CONVERSATION)

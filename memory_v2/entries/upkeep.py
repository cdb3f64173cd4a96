"""What is done with entries that are there: routing, ageing and promoting them, and counting them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from memory_v2.entries.ageing import AgeingPlan, plan_ageing
from memory_v2.entries.area import Area
from memory_v2.entries.domains import (
    DomainFile,
    default_domains,
    domains_page,
    read_domains,
    stored_domains,
)
from memory_v2.entries.entry import SHARED, Entry
from memory_v2.entries.file import written_moment
from memory_v2.entries.header import changed_header, read_header
from memory_v2.entries.places import path_of
from memory_v2.entries.planned import Planned, Stock, carried_out
from memory_v2.entries.promoting import THRESHOLD, Promotion, PromotionPlan, plan_promotion
from memory_v2.entries.references import Targets
from memory_v2.entries.routing import Router, Routing, RoutingPlan, plan_routing
from memory_v2.entries.summary import Summary, summarize
from memory_v2.operations.operation import operation
from memory_v2.operations.results import Finding
from memory_v2.storage.history import PageChange
from memory_v2.tree.block import decode, encode
from memory_v2.tree.path import ENTRIES
from memory_v2.validate import share_given

DOMAINS_PAGE = f"{ENTRIES}/domains"
"""The page with the domains of a memory, once somebody has edited them."""


@operation("route", changes="entries")
def route(area: Area, apply: bool = False) -> Planned[RoutingPlan]:
    """Finds the home of each entry in the inbox by the rules, and with `apply` stores it. Raises `InvalidSetting`,
    `StorageError`."""
    return route_further(area, apply, lambda stock, plan: plan)


def route_further(
    area: Area, apply: bool, further: Callable[[Stock, RoutingPlan], RoutingPlan]
) -> Planned[RoutingPlan]:
    """Routes the inbox by the rules; `further` decides about what they leave. Raises as `route` does."""

    def plan(stock: Stock) -> RoutingPlan:
        editable = (one for one in stock.entries if stock.is_editable(one))
        by_rules = plan_routing(editable, _router(area, stock.entries))
        return further(stock, by_rules)

    def changes(stock: Stock, plan: RoutingPlan) -> Iterator[PageChange]:
        for one in plan.routed:
            yield stock.with_header(one.id, {"home": one.routing.home})

    return carried_out(area, apply, "route", plan, changes)


@operation("route_text")
def route_text(area: Area, text: str) -> Routing:
    """Says where a text would be routed, and why; nothing is stored. Raises `InvalidSetting`, `StorageError`."""
    return _router(area, area.entries()).route(text)


@operation("age", changes="entries")
def age(area: Area, apply: bool = False) -> Planned[AgeingPlan]:
    """Finds the entries that have expired, and with `apply` moves them to the archive. Raises `InvalidSetting`,
    `StorageError`."""

    def plan(stock: Stock) -> AgeingPlan:
        planned = plan_ageing(stock.entries, area.calendar)
        taken = {one.id for one in planned.expired if stock.archive_path(one.id) in stock.paths}
        findings = (
            Finding("taken-name", "error", stock.archive_path(one), 0, f"this file is in the way of {one}; move it")
            for one in sorted(taken)
        )
        expired = tuple(one for one in planned.expired if one.id not in taken)
        return replace(planned, expired=expired, findings=(*planned.findings, *findings))

    def changes(stock: Stock, plan: AgeingPlan) -> Iterator[PageChange]:
        for one in plan.expired:
            data = stock.data(one.id)
            yield PageChange(stock.archive_path(one.id), None, data)
            yield PageChange(stock.files[one.id].path, data, None)

    return carried_out(area, apply, "age", plan, changes)


@operation("promote", changes="entries")
def promote(
    area: Area,
    threshold: float = THRESHOLD,
    require_verified: bool = False,
    only: str | None = None,
    apply: bool = False,
) -> Planned[PromotionPlan]:
    """Finds the entries that are sure enough to be shared, or the one that is named, and with `apply` copies them into
    the shared space. Raises `InvalidSetting`, `UsageError`, `StorageError`."""
    least = share_given("threshold", threshold)

    def plan(stock: Stock) -> PromotionPlan:
        entries = (one for one in stock.entries if stock.is_editable(one))
        now = area.calendar.now().replace(microsecond=0)
        return plan_promotion(entries, now, threshold=least, require_verified=require_verified, only=only)

    def changes(stock: Stock, plan: PromotionPlan) -> Iterator[PageChange]:
        for one in plan.promotions:
            yield PageChange(path_of(SHARED, one.copy.name), None, _copied(stock.data(one.id), one))
            promoted_to = (*stock.entry(one.id).promoted_to, one.copy.id)
            yield stock.with_header(one.id, {"promoted_to": promoted_to})

    return carried_out(area, apply, "promote", plan, changes)


@operation("status")
def status(area: Area) -> Summary:
    """Counts the entries of each domain. Raises `InvalidSetting`, `StorageError`."""
    return summarize(area.entries(), domains(area).domains, area.calendar.now())


@operation("domains")
def domains(area: Area) -> DomainFile:
    """The domains that entries are routed to. Raises `InvalidSetting` if the page of the memory is not valid."""
    page = area.data(DOMAINS_PAGE)
    return default_domains() if page is None else stored_domains(decode(page), f"{DOMAINS_PAGE}.md")


@operation("set_domains", changes="entries")
def set_domains(area: Area, text: str) -> DomainFile:
    """Stores other domains, given as TOML; what was routed keeps its home. Raises `InvalidSetting`, `StorageError`."""
    found = read_domains(text, "the domains")
    before, after = area.data(DOMAINS_PAGE), encode(domains_page(text))
    if before != after:
        area.make_ready()
        area.commit("domains", ", ".join(one.name for one in found.domains), [PageChange(DOMAINS_PAGE, before, after)])
    return found


def _router(area: Area, entries: Iterable[Entry]) -> Router:
    known = domains(area)
    everything = list(entries)
    targets = Targets(everything, known.domains, area.storage.list_files())
    importance = summarize(everything, known.domains, area.calendar.now()).importance
    return Router(known.domains, targets, known.importance_bonus, importance)


def _copied(data: bytes, promotion: Promotion) -> bytes:
    """The file of a copy: the original with the keys that only a copy has, so that unknown ones are copied too."""
    copy, text = promotion.copy, decode(data)
    changes: dict[str, Any] = {} if "created" in read_header(text).values else {"created": copy.observed_at.isoformat()}
    changes |= {"promoted_from": copy.promoted_from, "promoted_at": written_moment(copy.promoted_at)}
    changes |= {"promoted_version": copy.promoted_version}
    changes |= dict.fromkeys(("promoted_to", "consolidated_into", "derived_from"))
    return encode(changed_header(text, changes))

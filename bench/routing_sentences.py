"""Sixty sentences and the home of each, chosen by reading before any rule was written.

A sentence of the folders of notes is named by its line, `file:line:digest` with the first eight digits of the SHA-256
of the line without blanks around it, so that none of the text stands here; the German ones are our own. The home is a
domain, or `inbox` where the sentence belongs to none.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence in a language, where it stands or what it says, and its home."""

    language: str
    home: str
    line: str = ""
    text: str = ""


SENTENCES = (
    Sentence("en", "people", "peru-ai/memory/2026-02-07.md:5:7e3bc5b4"),
    Sentence("en", "insights", "peru-ai/MEMORY.md:123:fdcbdd13"),
    Sentence("en", "technical", "peru-ai/MEMORY.md:125:cd3ef65d"),
    Sentence("en", "strategy", "peru-ai/MEMORY.md:147:dc5b71e7"),
    Sentence("en", "insights", "peru-ai/MEMORY.md:64:8ea4ff3f"),
    Sentence("en", "projects", "duro/memory/MEMORY.md:44:e1444989"),
    Sentence("en", "technical", "duro/memory/2026-02-10.md:158:6e1864f1"),
    Sentence("en", "people", "clawd/MEMORY.md:17:693f9dc1"),
    Sentence("en", "projects", "clawd/MEMORY.md:354:daffead9"),
    Sentence("en", "strategy", "clawd/MEMORY.md:236:a0348b84"),
    Sentence("en", "insights", "duro/memory/MEMORY.md:30:e6ea3cfd"),
    Sentence("en", "strategy", "clawvault-own-vault/projects/autonomous-freelance-revenue.md:16:cf5e733c"),
    Sentence("en", "technical", "actorforth/.claude/memory/MEMORY.md:18:3e21643c"),
    Sentence("en", "projects", "pulsareon/memory/todo.md:3:c4202c24"),
    Sentence("en", "inbox", "peru-ai/memory/2026-02-06.md:17:00375a4c"),
    Sentence("en", "people", "peru-ai/MEMORY.md:57:f3356b0a"),
    Sentence("fr", "projects", "dsm-french-docs/docs/PHASE2_PLAN.md:2:d6077825"),
    Sentence("fr", "technical", "dsm-french-docs/docs/PHASE2_PLAN.md:64:fdc9d6d5"),
    Sentence("fr", "projects", "dsm-french-docs/docs/PHASE2_PLAN.md:142:168686d0"),
    Sentence("fr", "strategy", "dsm-french-docs/README_SHARDING.md:95:40e199a0"),
    Sentence("fr", "insights", "dsm-french-docs/README_SHARDING.md:90:8b9e0936"),
    Sentence("fr", "people", "dsm-french-docs/README_SHARDING.md:12:d0744261"),
    Sentence("fr", "strategy", "dsm-french-docs/README_SHARDING.md:14:96cea210"),
    Sentence("fr", "projects", "dsm-french-docs/README_SHARDING.md:116:03d601c8"),
    Sentence("fr", "technical", "dsm-french-docs/docs/daryl_sharding_critique_analysis.md:49:14d45a21"),
    Sentence("fr", "technical", "dsm-french-docs/docs/daryl_sharding_critique_analysis.md:9:410876ae"),
    Sentence("fr", "technical", "dsm-french-docs/docs/daryl_sharding_critique_analysis.md:167:b57eacb4"),
    Sentence("es", "people", "peru-ai/MEMORY.md:16:22d86c4e"),
    Sentence("es", "strategy", "peru-ai/MEMORY.md:37:bfc2eb5f"),
    Sentence("es", "strategy", "peru-ai/MEMORY.md:40:693b6e3c"),
    Sentence("es", "technical", "peru-ai/MEMORY.md:84:7ad4e120"),
    Sentence("es", "people", "peru-ai/MEMORY.md:88:80e357e7"),
    Sentence("es", "insights", "peru-ai/MEMORY.md:92:29ab13ba"),
    Sentence("es", "technical", "brainx-v2/memory/2026-02-10.md:17:fb5ab787"),
    Sentence("es", "projects", "brainx-v2/memory/2026-02-10.md:20:e35f1e1d"),
    Sentence("es", "technical", "brainx-v2/memory/2026-02-10.md:34:7651a67b"),
    Sentence("es", "inbox", "peru-ai/memory/legal_study_notes.md:30:1fc791a5"),
    Sentence("pt", "technical", "whatsapp-ai-agent-pt/MEMORY.md:8:f6b1ae3a"),
    Sentence("pt", "technical", "whatsapp-ai-agent-pt/memory/2026-02-13.md:15:3bf9eb3b"),
    Sentence("pt", "projects", "whatsapp-ai-agent-pt/memory/2026-02-13.md:25:7ceaa263"),
    Sentence("pt", "projects", "whatsapp-ai-agent-pt/memory/2026-02-13.md:24:65169b2e"),
    Sentence("pt", "insights", "whatsapp-ai-agent-pt/memory/2026-02-15.md:1:3ee8be49"),
    Sentence("pt", "strategy", "whatsapp-ai-agent-pt/memory/2026-02-12.md:39:4fe0ec22"),
    Sentence("pt", "projects", "whatsapp-ai-agent-pt/memory/2026-02-11.md:46:b4ed1b5f"),
    Sentence("pt", "people", "whatsapp-ai-agent-pt/memory/2026-02-15.md:4:0b8617df"),
    Sentence("pt", "technical", "whatsapp-ai-agent-pt/memory/2026-02-14.md:9:95d09960"),
    Sentence("zh", "people", "pulsareon/memory/MEMORY.md:22:8b87e683"),
    Sentence("zh", "insights", "pulsareon/memory/long-term/knowledge_base/lessons.md:3:3e59cdff"),
    Sentence("zh", "technical", "pulsareon/memory/2026-02-07.md:21:f71b01a5"),
    Sentence("zh", "technical", "pulsareon/memory/archive/2026-02-04.md:7:f71e3b94"),
    Sentence("zh", "projects", "pulsareon/memory/daily/2026-02-07.md:60:e3adb787"),
    Sentence("zh", "people", "pulsareon/memory/long-term/user_model/preferences.md:6:c80c5e8c"),
    Sentence("zh", "insights", "pulsareon/memory/long-term/THE_VOID_WHISPERS_20260208.md:17:5d03dc0a"),
    Sentence("zh", "strategy", "pulsareon/memory/long-term/knowledge_base/social_strategy.md:3:03af9e72"),
    Sentence(
        "de",
        "insights",
        text="Lehre aus dem Ausfall: Ein Backup, dessen Rückspielen nie getestet wurde, ist kein Backup.",
    ),
    Sentence("de", "people", text="Frau Brandt aus dem Einkauf ist ab März unsere Ansprechpartnerin."),
    Sentence(
        "de", "technical", text="Die Schnittstelle antwortet bei einer Zeitüberschreitung mit dem Statuscode 504."
    ),
    Sentence("de", "strategy", text="Langfristig wollen wir nur noch Kunden mit Wartungsverträgen gewinnen."),
    Sentence("de", "projects", text="Bis Freitag muss der Umzug des Lagers fertig geplant sein."),
    Sentence("de", "inbox", text="Heute gab es in der Kantine Linsensuppe."),
)

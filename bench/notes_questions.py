"""Sixty questions about the folders of notes, written before any search was asked.

Each names its language, its folder, the question and the lines that answer it: page, line number and the first eight
digits of the SHA-256 of the line without blanks around it, so that none of the text stands here. A question without
lines has no answer in its folder.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Asked:
    """A question about a folder; `answers` are the lines that answer it, `page:line:digest`."""

    language: str
    folder: str
    question: str
    answers: tuple[str, ...] = ()


QUESTIONS = (
    Asked(
        "en",
        "clawvault-own-vault",
        "What overall score does ClawVault reach on LongMemEval?",
        ("projects/memory-benchmark:13:92b98b4d",),
    ),
    Asked(
        "en",
        "clawvault-own-vault",
        "Why is the OpenClaw memory plugin blocked?",
        ("projects/clawvault-plugin:13:640e6937",),
    ),
    Asked(
        "en",
        "clawvault-own-vault",
        "How much revenue is expected in the third month of freelancing?",
        ("projects/autonomous-freelance-revenue:24:4a6e5f95",),
    ),
    Asked("en", "clawvault-own-vault", "When was the HELIOS codex adopted?", ("projects/helios:10:a8b11fbc",)),
    Asked("en", "duro", "Up to how much may the house cost?", ("memory/MEMORY:18:29d00e6b",)),
    Asked(
        "en",
        "duro",
        "Why does the Intersphere API take eight seconds on a cold start?",
        (
            "memory/2026-02-12:21:f21077db",
            "memory/2026-02-12:20:31e77eab",
        ),
    ),
    Asked("en", "duro", "How long are quizzes kept in the cache?", ("memory/2026-02-12:49:9409256d",)),
    Asked("en", "clawd", "How old is Dhyana?", ("MEMORY:17:693f9dc1",)),
    Asked(
        "en",
        "clawd",
        "Which port is blocked by the firewall in front of NATS?",
        (
            "memory/2026-02-12:52:1db61ca2",
            "memory/2026-02-10:118:d630b6f6",
            "memory/2026-02-10:121:5ae02d2f",
            "memory/2026-02-10:166:a90c9c83",
            "memory/2026-02-10:170:f62cc02b",
            "memory/2026-02-10:176:2e0d0bbb",
            "memory/2026-02-10:122:5e24dbf4",
        ),
    ),
    Asked("en", "clawd", "Which model does the Code Reviewer subagent run on?", ("memory/2026-02-12:44:63041a86",)),
    Asked(
        "en",
        "clawd",
        "What share of the safety tools is deterministic?",
        (
            "memory/2026-02-14:43:5f9f500a",
            "memory/2026-02-14:25:7cf289ca",
        ),
    ),
    Asked(
        "en", "memory-export", "What is the official OS repo called?", ("decisions_session1_2026-04-11:10:46cf2176",)
    ),
    Asked(
        "en",
        "memory-export",
        "Which tool was recommended in place of Obsidian?",
        (
            "MEMORY:14:24475e4a",
            "obsidian_tool_research_2026-04-11:10:9c669680",
            "obsidian_tool_research_2026-04-11:2:3df7ceb2",
            "obsidian_tool_research_2026-04-11:3:1cf91d8e",
            "obsidian_tool_research_2026-04-11:31:049a347b",
            "obsidian_tool_research_2026-04-11:32:745d4334",
        ),
    ),
    Asked(
        "en",
        "memory-export",
        "Which kinds of pheromones are there in the swarm?",
        ("sonnet_c_findings_2026-04-11:37:4ee335dc",),
    ),
    Asked(
        "en",
        "actorforth",
        "How many tests pass on the master branch?",
        (
            "claude/memory/MEMORY:12:6d2de479",
            "claude/memory/MEMORY:85:043a77c0",
            "claude/memory/MEMORY:135:b257eebb",
        ),
    ),
    Asked(
        "es",
        "peru-ai",
        "¿Cuándo es el cumpleaños de Peru?",
        (
            "MEMORY:16:22d86c4e",
            "memory/2026-02-06:13:753e8a4e",
        ),
    ),
    Asked(
        "es",
        "peru-ai",
        "¿Cuánto pagan los humanos al mes por la verificación en RentAHuman?",
        (
            "MEMORY:86:db7b8940",
            "memory/2026-02-09:90:a1a9c78d",
        ),
    ),
    Asked(
        "es",
        "peru-ai",
        "¿Cuántos artículos tiene el Código Civil?",
        (
            "memory/legal_study_notes:6:d7a6871c",
            "memory/legal_study_notes:49:dc360072",
            "memory/2026-02-09:60:e774c2b0",
        ),
    ),
    Asked("es", "peru-ai", "¿Qué pena tiene el secuestro?", ("memory/legal_study_notes:28:6a797aa3",)),
    Asked("es", "peru-ai", "¿En qué idiomas se puede leer la Constitución?", ("memory/legal_study_notes:19:17b80a1a",)),
    Asked(
        "es",
        "peru-ai",
        "¿Cuántos votos necesita el Tribunal Constitucional para declarar algo inconstitucional?",
        ("memory/legal_study_notes:23:6e4eae19",),
    ),
    Asked("es", "brainx-v2", "¿Qué versión de PostgreSQL se instaló?", ("memory/2026-02-10:29:8041f783",)),
    Asked(
        "es",
        "brainx-v2",
        "¿Después de cuántos mensajes olvida el contexto el agente?",
        ("memory/2026-02-10:4:cf0f42d0",),
    ),
    Asked(
        "es", "brainx-v2", "¿En qué tabla se guardan los mensajes entre agentes?", ("memory/2026-02-10:39:b98b40b0",)
    ),
    Asked("pt", "whatsapp-ai-agent-pt", "De onde somos, se alguém perguntar?", ("MEMORY:9:d8fabd21",)),
    Asked(
        "pt",
        "whatsapp-ai-agent-pt",
        "Quantas tentativas de follow-up são permitidas no total?",
        ("memory/2026-02-12:37:fbb12b91",),
    ),
    Asked("pt", "whatsapp-ai-agent-pt", "Quem paga o domínio do site?", ("memory/2026-02-18:11:016795a5",)),
    Asked(
        "pt",
        "whatsapp-ai-agent-pt",
        "Com que biblioteca foram feitos os gráficos do CRM?",
        ("memory/2026-02-14:19:d3d11da2",),
    ),
    Asked(
        "pt",
        "whatsapp-ai-agent-pt",
        "O que acontece quando o Eduardo intervém em uma conversa?",
        ("MEMORY:14:633e31b7",),
    ),
    Asked("pt", "whatsapp-ai-agent-pt", "Em que porta roda o bridge do WhatsApp?", ("memory/2026-02-16:5:ff87d6b8",)),
    Asked("zh", "pulsareon", "时光在哪个时区？", ("memory/MEMORY:21:cd172e8b",)),
    Asked(
        "zh",
        "pulsareon",
        "语音识别依赖哪个在线API？",
        ("memory/long-term/knowledge_base/offline_resilience_design:9:98a1278d",),
    ),
    Asked(
        "zh",
        "pulsareon",
        "重启的默认延迟改成了几秒？",
        (
            "memory/2026-02-07:24:3eaab9ba",
            "memory/2026-02-07:35:0068795c",
        ),
    ),
    Asked(
        "zh",
        "pulsareon",
        "第一张照片是用哪个摄像头拍的，分辨率多少？",
        ("memory/milestones/camera-first-photo:16:c988efd2",),
    ),
    Asked("zh", "pulsareon", "用户喜欢哪些生成艺术？", ("memory/long-term/user_model/preferences:16:adc3a092",)),
    Asked(
        "zh", "pulsareon", "删除二进制文件之前要检查什么？", ("memory/long-term/knowledge_base/lessons:10:884bf6a3",)
    ),
    Asked(
        "fr",
        "dsm-french-docs",
        "Combien de dimensions a le modèle all-mpnet-base-v2 ?",
        ("docs/PHASE2_PLAN:37:7b66883d",),
    ),
    Asked(
        "fr",
        "dsm-french-docs",
        "Quel modèle d'embeddings est recommandé pour commencer ?",
        ("docs/PHASE2_PLAN:51:84b5dfb0",),
    ),
    Asked(
        "fr",
        "dsm-french-docs",
        "Pourquoi le sharding par mots-clés est-il fragile ?",
        (
            "docs/daryl_sharding_critique_analysis:38:f53d3480",
            "docs/daryl_sharding_critique_analysis:37:7ef2760d",
        ),
    ),
    Asked(
        "fr",
        "dsm-french-docs",
        "Quelle est la demi-vie de la décroissance temporelle ?",
        ("docs/daryl_sharding_critique_analysis:107:2f14f20f",),
    ),
    Asked("en", "clawvault-own-vault", "What is Pedro's phone number?"),
    Asked("en", "clawvault-own-vault", "How many employees work for the company?"),
    Asked("en", "duro", "Which mortgage rate did the bank offer?"),
    Asked("en", "duro", "Which laptop does the user want to buy?"),
    Asked("en", "clawd", "When does the visa for Japan expire?"),
    Asked("en", "clawd", "What did the dentist say about the wisdom tooth?"),
    Asked("en", "memory-export", "What salary does Austin earn?"),
    Asked("en", "memory-export", "Who won the chess tournament in March?"),
    Asked("en", "actorforth", "Which version of Java does the compiler need?"),
    Asked("es", "peru-ai", "¿Cómo se llama la esposa de Juan Carlos?"),
    Asked("es", "peru-ai", "¿Cuánto costó el vuelo a Cusco?"),
    Asked("es", "brainx-v2", "¿Quién paga el servidor de correo?"),
    Asked("pt", "whatsapp-ai-agent-pt", "Quanto custa o aluguel do escritório?"),
    Asked("pt", "whatsapp-ai-agent-pt", "Qual é a senha do Wi-Fi?"),
    Asked("pt", "whatsapp-ai-agent-pt", "Quando é o aniversário do Lucas?"),
    Asked("zh", "pulsareon", "如歌的妻子叫什么名字？"),
    Asked("zh", "pulsareon", "上个月的电费是多少？"),
    Asked("zh", "pulsareon", "去东京的航班几点起飞？"),
    Asked("fr", "dsm-french-docs", "Combien d'abonnés paient chaque mois ?"),
    Asked("fr", "dsm-french-docs", "Qui est le directeur financier ?"),
)

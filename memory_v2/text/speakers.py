"""Who says a line, where lines have the form of a dialogue."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache

from memory_v2.text.words import folded, has_cjk, matcher, word_set, words

_ROLES = word_set("""
    ai assistant caller chatbot human interviewee interviewer me moderator narrator operator participant
    speaker user asistente usuario assistente usuário utilisateur assistent nutzer benutzer 用户 助手
    ユーザー アシスタント
    """)
# Who may speak, but is as often spoken about: "System: Linux", "**Agent:** claude-3".
_PARTIES = word_set("agent bot customer person player system")
_LABELS = word_set("""
    a abstract account action actions added address advice after agenda aim also answer api approach
    architecture attention author background because before benefit benefits blocked branch budget bug build
    but cause caution caveat change changed changes channel check city client code color command commands
    comment comments committed commit company config conclusion cons contact content context cost count
    country created current cwd data database date day deadline decided decision decisions default
    definition dependencies deployed description design detail details done due duration edit effect email
    endpoint environment error errors estimate evidence example examples except fact facts feature features
    file files final finding findings fix fixed focus format from fwd gate goal goals gotcha group growth
    hash here hint history host how however http https id idea ideas identity impact important info input
    insight insights instead install issue issues item items job key keywords kind label language last later
    learned lesson lessons level license limit link links list location log main message method metrics
    mission missing model month motto name need needed new next nickname no note notes now number objective
    objectives occupation only option options or other outcome output overview owner p page part password
    path pattern pending people phase phone place plan platform policy port preference preferences prefers
    principle principles priority problem process product project projects pros ps purpose q question
    questions quote rationale re reason reasons recommendation ref reference references rejected related
    remember reminder repo repository requirement requirements research resolved resource resources response
    result results risk risks role root rule rules schedule scope score section see session setup severity
    size skill skills so solution source sources speed stack state status step steps still strategy style
    subject sum summary symptom synthesis tag tags target task tasks team tech technical test tests that
    then theme there this threshold time timeline timezone tip tips title to today todo tomorrow tone tool
    tools topic topics total type types update updated updates url usage use used value version via wait
    warning website week what when where which who why workflow x yes yesterday
    acción archivo asunto atención causa ciudad conclusión contexto correo cuándo descripción dirección
    dónde ejemplo enlace estado fecha fuente herramienta idioma importante meta motivo nombre nota notas
    objetivo observación país paso pendiente pregunta prioridad problema proyecto pruebas qué razón
    resultado resumen solución tarea tareas teléfono tema tipo título ubicación
    ação ajuste arquivo assunto atenção cidade conclusão descrição endereço exemplo feito hora nome obs
    observação pergunta prazo projeto próximo regra resposta resumo solução tarefa telefone validação
    adresse auteur bilan contexte coût délai décision détail durée état étape exemple fichier langue lien
    lieu nom objectif outil priorité problème projet raison remarque réponse résultat résumé statut sujet
    tâche titre ville
    achtung anmerkung aufgabe aufgaben beispiel bemerkung beschreibung datei datum ergebnis fazit frage
    frist grund hinweis idee lösung ort priorität projekt quelle schritt sprache stadt stand thema titel
    wichtig ziel zusammenfassung
    """)
_LABELS_CJK = (
    "[时時]间|[时時]間|日期|状态|状況|備考|备注|注意|目标|目標|任务|任務|结果|結果|结论|結論|原因|问题|問題|方案|方法|说明|説明|"
    "总结|摘要|来源|位置|地点|名称|名前|标题|類型|类型|版本|路径|作者|用户id|例|如|注|步骤|手順|重要|待办|进展|日時|場所|対応|"
    "理由|目的|内容|主题|核心|关键|建议|优先级|发现|计划|当前|优点|缺点|观察|行动|教训"
)
_NOUNISH = tuple(word_set("tion sion ment ments ness ity ing ción ção dad dade té ung keit heit"))
_PARTICLES = word_set("al bin da de del der di do dos du el la le van von y")


@cache
def _turn() -> re.Pattern[str]:
    stamp = (
        r"\[(?=[^\]\n]{0,60}\d)[^\]\n]{1,60}\]|\((?=[^)\n]{0,60}\d)[^)\n]{1,60}\)"
        r"|\d[\d:/.,\-TZ ]{2,30}(?:[AaPp]\.?[Mm]\.?(?!\w))?"
    )
    word = r"[^\W\d_](?:[^\W_]|['’.-](?=[^\W\d_])){0,30}\.?"
    name = rf"@[\w.-]{{1,40}}|{word}(?:\x20(?:{word}|\d{{1,3}})){{0,3}}"
    mark = r"\*{1,3}|_{1,3}"
    return re.compile(
        rf"\s{{0,12}}(?:(?:[-*+•>]|\d{{1,3}}[.)])\s{{1,4}}){{0,3}}(?P<a>{mark})?(?:(?:{stamp})\s{{0,3}}[-–—,|]?\s{{0,3}})?"
        rf"(?P<b>{mark})?(?P<name>{name})(?:{mark})?(?:\s?(?:{stamp}))?\s?(?::(?:{mark})?\s|：(?:{mark})?\s?)\s*(?P<said>\S[^\n]*)"
    )


@cache
def _personal() -> re.Pattern[str]:
    # Speech shows by who is meant, and by asking and exclaiming. "we", "our", "nous" are as frequent in plain notes.
    return re.compile(
        r"[!?！？]|\b(?:i|me|my|myself|you|your|yours|yo|mi|mí|tú|usted|eu|você|meu|minha|je|moi|toi|tu|vous|ich|mir"
        r"|mich|mein|meine|du|dich|dir|hi|hey|hello|hola|oi|olá|salut|bonjour|hallo|thanks|gracias|obrigad[oa]|merci|danke"
        r"|yes|yeah|sí|sim|oui|ja)\b|\b[jm]['’]|[我你您咱吗呢吧]|私|僕|俺|あなた|です[かねよ]|ます[かねよ]|ありがとう"
    )


def _said(text: str) -> tuple[str, str, bool] | None:
    """Name, words and whether the name is emphasised, if `text` has the form of a turn and `name` that of a name."""
    match = _turn().match(text)
    if match is None:
        return None
    name = unicodedata.normalize("NFC", match["name"]).rstrip(".")
    if not name.startswith("@") and not _is_name(name):
        return None
    return name, match["said"], bool(match["a"] or match["b"])


def _role(name: str) -> str | None:
    """The role among `_ROLES` and `_PARTIES` that `name` is, a number or letter after it aside: "Speaker 2"."""
    role = matcher(r"\s?(?:\d{1,3}|\b\w)$").sub("", folded(name))
    return role if role in _ROLES or role in _PARTIES else None


def _is_name(name: str) -> bool:
    parts = name.split()
    if _role(name) is not None:
        return True
    if has_cjk(name):
        longest = 8 if matcher(r"[^\u4e00-\u9fff]").search(name) else 4
        return len(parts) == 1 and len(name) <= longest and not matcher(_LABELS_CJK).match(name.casefold())
    plain = [folded(part) for part in parts]
    if any(part in _LABELS for part in plain) or matcher(r"\d").search(name):
        return False
    upper = [part[0].isupper() for part in parts]
    particles = [part in _PARTICLES for part in plain]
    return upper[0] and sum(upper) <= 3 and all(u or p for u, p in zip(upper, particles, strict=True))


def _is_speech(name: str, said: str) -> bool:
    return _role(name) in _ROLES or _personal().search(folded(said)) is not None


def speaker(text: str) -> str | None:
    """Whose turn of a dialogue the line `text` is, as far as one line can tell; None if it need not be one.

    `Ana: …` is believed when what follows reads like a sentence; with the name in bold, in capitals or in the form of
    an abstract noun, as keys often are, only when it also addresses somebody, asks or exclaims.
    """
    if (turn := _said(text)) is None:
        return None
    name, said, emphasised = turn
    if _is_speech(name, said) and (len(words(said)) > 1 or (_role(name) and not emphasised)):
        return name
    if emphasised or _role(name) or (name.isupper() and len(name) > 1) or name.casefold().endswith(_NOUNISH):
        return None
    if matcher(r"[.!?…。！？][\"'”’)*_]*\s*$").search(said):
        return name
    # A turn starts with words; a value may start with a number, code, a handle, a path.
    return name if not has_cjk(name) and matcher(r"[\"'“(*_]*[^\W\d_]").match(said) and len(words(said)) > 2 else None


def speakers(lines: Sequence[str]) -> dict[str, int]:
    """How many of `lines` each speaker says, in order of appearance; empty unless the lines are a dialogue.

    A speaker recurs, at least a fifth of what is said under the name reads like speech (which tells names from
    the keys of a list), and the speakers together have most of the lines that are neither blank nor headings.
    """
    said: dict[str, list[bool]] = {}
    total = 0
    for line in lines:
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        total += 1
        if turn := _said(line):
            said.setdefault(turn[0], []).append(_is_speech(turn[0], turn[1]))
    found = {name: len(turns) for name, turns in said.items() if len(turns) > 1 and sum(turns) * 5 >= len(turns)}
    return found if sum(found.values()) * 2 > total else {}

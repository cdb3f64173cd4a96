"""What the words of a text are, which of them carry its meaning, and who says them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache

# Scripts written without spaces between words. Chinese, Japanese and Korean first; then Thai, Lao, Burmese, Khmer.
_CJK = (
    "\u1100-\u11ff\u2e80-\u2fd5\u3005-\u3007\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u3131-\u318e"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U0003ffff"
)
_UNSPACED = _CJK + "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ecd\u1000-\u103f\u1780-\u17d3"
# Python's \w leaves out combining marks, without which Hindi, Arabic and Hebrew words fall to pieces.
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0963\u0966-\u0dff"
)
_APOSTROPHES = "'’‘ʼ＇"


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


# A function word that is also a word with a meaning in another of these languages is left out on purpose (French car,
# son, comment, pour; German die, war, hat, man, bin, mit; Spanish sin, era; Portuguese dos): dropping it would hide
# the other word from search, while keeping it costs next to nothing, since ranking weighs frequent words down itself.
STOPWORDS = _set("""
    a about above after again against all almost also although always am an and any anyone anything are as
    at be became because been before being below between both but by can cannot could did do does doing done
    down during each either else ever every everyone everything few for from further get gets getting got
    had has have having he her here hers herself him himself his how however i if in into is it its itself
    just least less let made make many may me might mine more most much must my myself neither never no nor
    not nothing of off on once one only onto or other others our ours ourselves out over own per rather same
    shall she should since so some someone something somewhere still such than that the their theirs them
    themselves then there these they this those though through thus to too toward towards under until up
    upon us very was we were what whatever when whenever where wherever whether which while who whoever whom
    whose why will with within without would yet you your yours yourself yourselves e.g i.e etc vs
    aint arent cant couldnt didnt doesnt dont hadnt hasnt havent im isnt ive mustnt neednt shouldnt thats
    theres theyre theyve wasnt werent weve whats whos wont wouldnt youre youve lets heres
    al algo alguien alguna algunas alguno algunos ante antes aquel aquella aquellas aquellos aquello aquí
    asi así aun aún aunque cada como cómo con contra cual cuál cuales cuáles cuando cuándo cuanto cuánto
    cuanta cuánta cuantos cuántos cuantas cuántas cuya cuyo de del desde donde dónde durante e el él ella
    ellas ellos en entonces entre es esa esas ese eso esos esta está están estaba estas este esto estos
    estoy fue fueron ha había han hasta hay la las le les lo los más mediante mi mis mucho muchos muy nada
    ni ningún ninguna nos nosotros nuestra nuestro nuestros o os otra otras otro otros para pero poco por
    porque qué que quien quién quienes quiénes se según ser si sí sido sobre su sus también tampoco tanto te
    tenía tengo ti tiene tienen toda todas todo todos tu tú tus u un una unas uno unos usted ustedes y ya yo
    ao aos aquela aquele aqueles aquilo até com da das depois dela dele deles ela elas ele eles em essa
    essas esse esses estão eu foi foram há isso isto já lhe lhes mais mas mesmo meu meus minha minhas muito
    na nas nem nós nossa nosso num numa não onde ou pela pelas pelo pelos pode porquê qual quais quando
    quanto quantos quem sem será seu seus só sua suas são também tem têm tenho teu tua um uma umas uns você
    vocês à às é
    ai au aux avait avec avoir c ce ceci cela ces cet cette ceux chaque chez ci combien d dans depuis dès du
    elle elles est et étaient était être eux fait il ils j je jusqu l là lequel laquelle leur leurs lorsque
    lorsqu lui m ma mes moi mon même n ne notre nous ont où par parce pas pendant peu peut plus pourquoi
    puis puisqu qu quand quel quelle quelles quels qui quoi s sa sans ses sont sous suis sur ta tes toi tous
    tout toute toutes très une vers voici voilà vos votre vous ça
    aber alle allem allen aller alles als andere anderen auch auf aus bei beim bis bist dabei damit danach
    dann dass dein deine dem denn der deren des dessen dich diese diesem diesen dieser dieses dir doch
    dort durch ein eine einem einen einer eines er etwas euch euer eure für gegen gewesen habe haben hatte
    hatten hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer ins ist ja jede jedem jeden jeder
    jedes jetzt kann kein keine keinem keinen keiner können könnte machen mehr mein meine meinem meinen
    meiner mich mir muss müssen nach nicht nichts noch nur ob oder ohne sehr sein seine seinem seinen seiner
    seit selbst sich sie sind soll sollte sondern sonst über und unser unsere unter viel vom von vor wann
    warum wegen weil welche welchem welchen welcher welches wem wen wenn wer werden wessen weshalb wie
    wieder wieso wir wird wo woher wohin wurde wurden während zu zum zur zwar zwischen
    """)
"""Function words of English, Spanish, Portuguese, French and German, as `words` gives them."""

FILLERS = _set("""
    absolutely actually agree agreed ah aha alright amazing amen anyway anyways aw awesome aww basically bet
    bye cheer cheers congrat congrats congratulations congratulation cool course cute damn definitely dude
    exactly excited exciting fab fantastic fine fun glad goodbye good gonna gosh gotta great guess guy guys
    haha hahaha happy heck hello hey hi hmm honest honestly hooray huh incredible indeed inspiring
    interesting kinda kudo kudos literally lol lot lots lovely maybe mhm mm nah neat nice nope obviously oh
    ok okay omg ooh oop oops ouch pal perfect perhap perhaps phew please pretty probably proud quite really
    right seriously sir sorry sorta sound sounds super sure sweet thank thanks thx totally truly ugh uh uhm
    wanna welcome well whoa wonderful wow yay yea yeah yeap yep yes yup
    """)
"""Words English speakers put into chat without saying anything by them; a stem of one is one too."""

_CLITICS = frozenset(["s", "ll", "re", "ve", "d", "m"])
_ELIDED = _set("c d j jusqu l lorsqu m n puisqu qu quoiqu s t")
_SINGULAR = _set("alias atlas bias canvas christmas gas lens news")


@cache
def _token() -> re.Pattern[str]:
    word = rf"(?:[^\W_{_UNSPACED}]++|[{_MARKS}]++)++"
    # A dot joins `node.js` and `v0.1.0`, not the sentences of "the end.Next".
    dot = r"\.(?:(?=[^A-ZÀ-Þ])|(?<=[A-ZÀ-Þ]\.))"
    return re.compile(
        rf"[{_UNSPACED}]++"
        r"|\d{1,3}(?:,\d{3})++(?![\d,])(?:\.\d++)?"
        rf"|{word}(?:(?:[{_APOSTROPHES}]|_++|{dot}){word})*+(?:(?<=[A-Za-z])\+\+\d*+|(?<=\b[A-Za-z])\#(?!\w))?"
    )


@cache
def _matcher(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    # Decomposed first: only so is folding stable (Unicode 3.13, D145).
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", text).casefold())


def has_cjk(text: str) -> bool:
    """Whether `text` has Chinese characters, kana or hangul."""
    return not text.isascii() and _matcher(f"[{_CJK}]").search(text) is not None


def words(text: str) -> list[str]:
    """The words of `text` in order, casefolded, in NFC.

    Identifiers, versions and host names stay whole; English `'s`, `'ll` and French `l'`, `qu'` come off, other
    apostrophes vanish (`don't` is `dont`); scripts without spaces give overlapping pairs of characters.
    """
    plain = unicodedata.normalize("NFC", text)
    unspaced = _matcher(f"[{_UNSPACED}]")
    found: list[str] = []
    for match in _token().finditer(plain):
        token = _folded(match[0])
        if not token.isascii():
            if unspaced.match(token):
                found += [token[i : i + 2] for i in range(len(token) - 1)] or [token]
                continue
            token = _matcher(f"[{_APOSTROPHES}]").sub("'", token)
        if "'" in token:
            found += _without_apostrophes(token)
        else:
            found.append(token.replace(",", ""))
    return found


def _without_apostrophes(token: str) -> list[str]:
    body, _, tail = token.rpartition("'")
    if tail not in _CLITICS:
        body = token
    head, _, rest = body.partition("'")
    if rest and head in _ELIDED:
        return [head, rest.replace("'", "")]
    return [body.replace("'", "")]


def stem(word: str) -> str:
    """`word` without an English plural or possessive ending; singular and plural meet, if not in a word."""
    word = word.removesuffix("'").removesuffix("'s")
    if len(word) < 4 or not (word.isascii() and word.isalpha()) or word in _SINGULAR:
        return word
    if word.endswith("es") and word[:-2] in _SINGULAR:
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    # What an "es" may have been: boxes, classes, viruses, heroes, stories. Words in -e fold alike: caches and cache.
    if len(word) > 3 and word.endswith(("sse", "use", "xe", "zze", "che", "she", "oe")):
        return word[:-1]
    if len(word) > 3 and word.endswith("ie"):
        return word[:-2] + "y"
    return word


def content_words(text: str) -> list[str]:
    """The stems of the words of `text` that are not `STOPWORDS`, in order."""
    return [stem(word) for word in words(text) if word not in STOPWORDS]


_LINE_MARKS = r"\s*(?:(?:>|\#{1,6}|[-*+•‣]|\d{1,3}[.)])(?=\s|$)\s*|>\s*)*"
_ENDS = " \t.,;:!…。，、；：！"


def normal(text: str) -> str:
    """The form two texts share if they say the same to the letter.

    Markers of lists, headings, quotes, emphasis and code go, white space folds, so does case, and final punctuation
    is dropped. A question mark and a ticked box stay: with them the text says something else.
    """
    marks, blank = _matcher(_LINE_MARKS), _matcher(r"[*_`]+")
    plain = _folded(text)
    while True:
        bare = blank.sub(lambda run: run[0] if _is_text(run) else "", plain).rstrip().rstrip(_ENDS)
        lines = [line[match.end() :] for line in bare.splitlines() if (match := marks.match(line))]
        # Composed again: a mark that goes may leave a letter before an accent.
        shorter = unicodedata.normalize("NFC", " ".join(" ".join(lines).split()))
        # Taking one mark off may bare another ("#." ends as "#"); after the first round there is one line left.
        if shorter == plain:
            return plain
        plain = shorter


def _is_text(run: re.Match[str]) -> bool:
    """Whether stars, underscores or backticks are not marks: inside a word (`snake_case`), or alone (`2 * 3`)."""
    before = run.string[run.start() - 1 : run.start()] if run.start() else ""
    after = run.string[run.end() : run.end() + 1]
    return (before.isalnum() and after.isalnum()) or not (before.strip() or after.strip())


_ROLES = _set("""
    ai assistant caller chatbot human interviewee interviewer me moderator narrator operator participant
    speaker user asistente usuario assistente usuário utilisateur assistent nutzer benutzer 用户 助手
    ユーザー アシスタント
    """)
# Who may speak, but is as often spoken about: "System: Linux", "**Agent:** claude-3".
_PARTIES = _set("agent bot customer person player system")
_LABELS = _set("""
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
_NOUNISH = tuple(_set("tion sion ment ments ness ity ing ción ção dad dade té ung keit heit"))
_PARTICLES = _set("al bin da de del der di do dos du el la le van von y")


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
    role = _matcher(r"\s?(?:\d{1,3}|\b\w)$").sub("", _folded(name))
    return role if role in _ROLES or role in _PARTIES else None


def _is_name(name: str) -> bool:
    parts = name.split()
    if _role(name) is not None:
        return True
    if has_cjk(name):
        longest = 8 if _matcher(r"[^\u4e00-\u9fff]").search(name) else 4
        return len(parts) == 1 and len(name) <= longest and not _matcher(_LABELS_CJK).match(name.casefold())
    folded = [_folded(part) for part in parts]
    if any(part in _LABELS for part in folded) or _matcher(r"\d").search(name):
        return False
    upper = [part[0].isupper() for part in parts]
    particles = [part in _PARTICLES for part in folded]
    return upper[0] and sum(upper) <= 3 and all(u or p for u, p in zip(upper, particles, strict=True))


def _is_speech(name: str, said: str) -> bool:
    return _role(name) in _ROLES or _personal().search(_folded(said)) is not None


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
    if _matcher(r"[.!?…。！？][\"'”’)*_]*\s*$").search(said):
        return name
    # A turn starts with words; a value may start with a number, code, a handle, a path.
    return name if not has_cjk(name) and _matcher(r"[\"'“(*_]*[^\W\d_]").match(said) and len(words(said)) > 2 else None


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

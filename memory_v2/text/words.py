"""What the words of a text are, and which of them carry its meaning."""

from __future__ import annotations

import re
import unicodedata
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


def word_set(text: str) -> frozenset[str]:
    """The words of a list that is written as text."""
    return frozenset(text.split())


# A function word that is also a word with a meaning in another of these languages is left out on purpose (French car,
# son, comment, pour; German die, war, hat, man, bin, mit; Spanish sin, era; Portuguese dos): dropping it would hide
# the other word from search, while keeping it costs next to nothing, since ranking weighs frequent words down itself.
STOPWORDS = word_set("""
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

FILLERS = word_set("""
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
_ELIDED = word_set("c d j jusqu l lorsqu m n puisqu qu quoiqu s t")
_SINGULAR = word_set("alias atlas bias canvas christmas gas lens news")


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
def matcher(pattern: str) -> re.Pattern[str]:
    """The pattern, compiled when it is first asked for."""
    return re.compile(pattern)


def folded(text: str) -> str:
    """The text without regard to case, in NFC."""
    if text.isascii():
        return text.lower()
    # Decomposed first: only so is folding stable (Unicode 3.13, D145).
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", text).casefold())


def has_cjk(text: str) -> bool:
    """Whether `text` has Chinese characters, kana or hangul."""
    return not text.isascii() and matcher(f"[{_CJK}]").search(text) is not None


def words(text: str) -> list[str]:
    """The words of `text` in order, casefolded, in NFC.

    Identifiers, versions and host names stay whole; English `'s`, `'ll` and French `l'`, `qu'` come off, other
    apostrophes vanish (`don't` is `dont`); scripts without spaces give overlapping pairs of characters.
    """
    plain = unicodedata.normalize("NFC", text)
    unspaced = matcher(f"[{_UNSPACED}]")
    found: list[str] = []
    for match in _token().finditer(plain):
        token = folded(match[0])
        if not token.isascii():
            if unspaced.match(token):
                found += [token[i : i + 2] for i in range(len(token) - 1)] or [token]
                continue
            token = matcher(f"[{_APOSTROPHES}]").sub("'", token)
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
    marks, blank = matcher(_LINE_MARKS), matcher(r"[*_`]+")
    plain = folded(text)
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

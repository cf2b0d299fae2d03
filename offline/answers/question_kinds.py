"""What kind of answer a question asks for, such as a number or a year, and whether a sentence has
one; in several languages.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from offline.answers.narrow_kinds import narrow_kind
from offline.answers.persons import asks_bearer, asks_person, names_person, says_who
from offline.language.languages import CHINESE, ENGLISH, GERMAN
from offline.language.stems import answer_stem

AGREES = 0.1
LACKS = -0.5
LACKS_WHOLLY = -1.0
LACKS_NAME = -0.1
"""What is added to a score, by `agreement`. Who may also be "the keeper", so a missing name weighs
little; a year and the name of somebody have no other form.
"""

_ASKS = re.compile(r"\b(?:who|whom|whose|where|when|which|what|why|how)\b", re.I)
_WORD = re.compile(r"[^\W_]+")
_CAPITAL = re.compile(r"(?<!^)(?<![.!?:]\s)\b[A-ZÀ-ÞА-ЯЁ][^\W\d_]+")
_YEAR = re.compile(r"(?<!\d)\d{4}(?!\d)")
_HAN_NUMBER = "(?:一(?![个名位种些款项家般起定样])|[\\d〇零二三四五六七八九十百千万两半])"


@dataclass(frozen=True)
class _Kinds:
    """How a language asks for numbers, years, times and names, and how it writes them."""

    asks_number: re.Pattern[str]
    asks_year: re.Pattern[str]
    asks_time: re.Pattern[str]
    number: re.Pattern[str]
    time: re.Pattern[str]


def _kinds(asks_number: str, asks_year: str, asks_time: str, number: str, time: str) -> _Kinds:
    patterns = [asks_number, asks_year, asks_time, rf"(?<![\w-])\d[\d.,:]*(?!\w)|{number}", time]
    return _Kinds(*(re.compile(pattern, re.I) for pattern in patterns))


_BY_LANGUAGE = {
    ENGLISH: _kinds(
        r"how (?:many|much|old|long|large|tall|deep|often|big|far|soon|high|wide|heavy|fast)\b",
        r"(?:which|what) year\b",
        r"(?:when|(?:which|what) (?:year|day|month|date))\b",
        r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|"
        r"thirty|forty|fifty|sixty|hundred|thousand|million|once|twice|half|daily|weekly|monthly|"
        r"yearly)\b",
        r"\d{4}|\d:\d\d|\b(?:january|february|march|april|may|june|july|august|september|october|"
        r"november|december|(?:mon|tues|wednes|thurs|fri|satur|sun)day|seconds?|minutes?|hours?|"
        r"days?|weeks?|months?|years?|century|when|whenever|before|after|until|while|once|if)\b",
    ),
    GERMAN: _kinds(
        r"\bwie ?viel\w*|\bwie (?:alt|lange|groß|tief|oft|weit|bald|hoch|breit|schwer|schnell|"
        r"teuer)\b|\bwas kostet\b",
        r"\bwelche[snm]? jahr",
        r"\bwann\b|\bwelche[rnms]* (?:jahr|tag|monat|datum|uhrzeit)|\bum wie ?viel uhr",
        r"\b(?:zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|fünfzehn|"
        r"zwanzig|dreißig|vierzig|fünfzig|sechzig|hundert|tausend|million\w*|einmal|zweimal|halb\w*|"
        r"doppelt\w*|dreifach\w*|täglich\w*|wöchentlich\w*|monatlich\w*|jährlich\w*|kein\w*)\b",
        r"\d|\b(?:januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|"
        r"dezember|\w+tags?|sekunden?|minuten?|stunden?|tage?n?|wochen?|monate?n?|jahre?n?|"
        r"jahrhundert|wenn|bevor|nachdem|vor|nach|bis|sobald|falls|während|mittags|abends|morgens)\b",
    ),
    "russian": _kinds(
        r"\bсколько\b|\bкак (?:долго|часто|далеко|скоро)\b",
        r"\bкаком году\b|\bкакого года\b",
        r"\bкогда\b|\bво сколько\b|\bкаком (?:году|месяце)\b|\bкакой день\b|"
        r"\bкакого (?:часа|числа)\b",
        r"\b(?:од(?:ин|на|но|ного|ной)|дв[аеух]\w*|тр(?:и|ёх|ех)|четыр\w+|пят\w+|шест\w+|сем\w|"
        r"восем\w+|"
        r"девят\w+|десят\w+|полтор\w+|двадцат\w+|тридцат\w+|сорок\w*|сто|сот\w*|тысяч\w*|миллион\w*|полов\w+|раз|"
        r"дважды|ежедневно|еженедельно|ежемесячно|ежегодно|\w+надцат\w+|\w+десят\w*)\b",
        r"\d|\b(?:январ|феврал|март|апрел|ма[йя]\b|июн|июл|август|сентябр|октябр|ноябр|декабр|"
        r"понедельник|вторник|сред[уаы]|четверг|пятниц|суббот|воскресен|секунд|минут|час|дн|день|"
        r"недел|месяц|год|лет\b|век|когда|до|после|если|пока|утр|вечер|ежедневно|ежемесячно)",
    ),
    "french": _kinds(
        r"\bcombien\b|\bquelle est la (?:taille|durée|longueur|hauteur)\b",
        r"\bquelle année\b",
        r"\bquand\b|\bquelle (?:année|heure|date)\b|\bquel (?:jour|mois)\b",
        r"\b(?:une?|deux|trois|quatre|cinq|six|sept|huit|neuf|dix|onze|douze|quinze|vingt|trente|"
        r"quarante|cinquante|soixante|cent|mille|million|fois|moitié|demi\w*|aucun\w*)\b",
        r"\d|\b(?:janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|"
        r"décembre|\w+di|dimanche|secondes?|minutes?|heures?|jours?|semaines?|mois|ans?|années?|"
        r"siècle|lorsque|quand|avant|après|jusqu|dès|pendant|si)\b",
    ),
    "spanish": _kinds(
        r"\bcu[aá]nt[oa]s?\b|\bqu[eé] tan\b",
        r"\bqu[eé] año\b",
        r"\bcu[aá]ndo\b|\bqu[eé] (?:año|hora|d[ií]a|mes|fecha)\b",
        r"\b(?:una?|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce|quince|veinte|"
        r"treinta|cuarenta|cincuenta|sesenta|cien\w*|mil|mill[oó]n\w*|vez|veces|mitad|medi[ao]|"
        r"ning[uú]n\w*)\b",
        r"\d|\b(?:enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|"
        r"diciembre|lunes|martes|miércoles|jueves|viernes|sábado|domingo|segundos?|minutos?|horas?|"
        r"d[ií]as?|semanas?|mes(?:es)?|años?|siglo|cuando|antes|después|hasta|mientras|si)\b",
    ),
    "italian": _kinds(
        r"\bquant[oaie]\b|\bquanto (?:spesso|grande|lungo|alto|profondo)",
        r"\b(?:che|quale|in che|in quale) anno\b",
        r"\bquando\b|\b(?:che|quale) (?:anno|ora|giorno|mese|data)\b|\bentro quando\b",
        r"\b(?:un[ao]?|due|tre|quattro|cinque|sei|sette|otto|nove|dieci|undici|dodici|quindici|"
        r"venti|trenta|quaranta|cinquanta|sessanta|cento|mille|mila|milion\w*|volt[ae]|metà|mezz[ao]|"
        r"nessun\w*)\b",
        r"\d|\b(?:gennaio|febbraio|marzo|aprile|maggio|giugno|luglio|agosto|settembre|ottobre|"
        r"novembre|dicembre|\w+edì|sabato|domenica|second[oi]|minut[oi]|or[ae]|giorn[oi]|"
        r"settiman[ae]|mes[ei]|ann[oi]|secolo|quando|prima|dopo|fino|entro|mentre|appena|se)\b",
    ),
    CHINESE: _kinds(
        "多少|几[个本张天次层楼元年岁人条份件页]|多[长久大高远重深快]|几?岁",
        "[哪那]一?年|何年",
        "什么时候|什么时间|几点|几号|几月|何时|[哪那]一?[天年月]",
        f"{_HAN_NUMBER}|每|免费|没有|不收",
        f"{_HAN_NUMBER}|[天日周月年时点分]|前|后",
    ),
}
_HAN_YEAR = re.compile("(?<!\\d)\\d{4}(?!\\d)|[〇零一二三四五六七八九]{4}年")


_REFERENCE = re.compile(
    r"\b(?:sections?|chapters?|abschnitt\w*|kapitel\w*|chapitres?|secci[oó]n|cap[ií]tulo|sezione|"
    r"capitolo|раздел\w*|глав\w*)\s+\d[\d.]*|第\s?[\d.]+\s?[节章条]",
    re.I,
)
"""Where something else is said: its number counts nothing."""

_ASKS_PHONE = re.compile(
    r"\b(?:tele)?(?:phone|fon|fono) ?(?:number|nummer)|\btelefonnummer|téléphone|teléfono|telefono|"
    r"номер телефона|电话|\b(?:which|what) number .*\b(?:call|ring|dial)|"
    r"\bwelche nummer .*\b(?:ruf|wähl|anruf)|\bquel numéro .*(?:appel|compos)|"
    r"\bqué número .*llam|\bche numero .*chiam|\bпо какому номеру|[哪什][个么]号码",
    re.I,
)
_PHONE = re.compile(r"(?:\d[ ()/-]?){5}")
_ASKS_VERSION = re.compile(
    r"\b(?:which|what|welche[rn]?|quelle|qué) versi[oó]n|\bкакой версии|\bкакая версия|哪个版本",
    re.I,
)
_VERSION = re.compile(r"\d+\.\d+|versi[oó]n\w* \d|верси\w+ \d|版本\s?\d", re.I)
_ASKS_NAME = re.compile(r"(?:who|whom|whose|where)\b", re.I)
_ASKS_OWN_NAME = re.compile(
    r"\bкак (?:зовут|его зовут)|comment s.appelle|c[oó]mo se llama|come si chiama", re.I
)
_ASKS_GERMAN_NAME = re.compile(r"\bwie hei(?:ß|ss)(?:t|en)\b", re.I)
_GERMAN_NAME = re.compile(r"\b(?:hei(?:ß|ss)(?:t|en)|namens|genannt|nennt|Name|Herr|Frau)\b")
_REFERS = re.compile(
    r"(?:see(?: also)?|compare|cf\.|siehe(?: auch)?|vgl\.|voir(?: aussi)?|véase|см\.|参见)\s", re.I
)
"""The beginning of a sentence that only says where to read on."""
_ASKS_UNIT = re.compile("(?:多少|几)(瓦|升|米|公里|公斤|千克|克|伏|度)")


def agreement(question: str, sentence: str, language: str = ENGLISH) -> float:
    """Return `AGREES` if the sentence has what the question asks for, and how much it loses if it
    lacks that; else 0.

    Asked for may be a number, a time, a year, a version, a telephone number or a name; a name that
    the question itself has does not count. Questions of another form, or in a language without
    rules here, give 0. In English the first word that asks is what counts: "What does it cost when
    a card is lost?" asks for no time.
    """
    if _REFERS.match(sentence):
        return LACKS
    if (unit := _ASKS_UNIT.search(question)) and unit[1] not in sentence:
        return LACKS
    for asks, has in (
        (_ASKS_PHONE, _PHONE),
        (_ASKS_VERSION, _VERSION),
    ):
        if asks.search(question):
            return AGREES if has.search(sentence) else LACKS
    if narrow := narrow_kind(question):
        return AGREES if narrow.has.search(sentence) else LACKS
    if asks_person(question) and not (
        names_person(question, sentence, language) or _names_unknown(question, sentence, language)
    ):
        return LACKS
    if asks_bearer(question) and not (
        says_who(sentence) or _names_unknown(question, sentence, language)
    ):
        return LACKS
    return _agreement_in_language(question, sentence, language)


def asks_kind(question: str, language: str) -> bool:
    """Return whether a question asks for a number, a time or a narrow kind of answer, whose name
    the answer needs not have: "at what hour" is answered by "at 8".
    """
    if narrow_kind(question) or _ASKS_PHONE.search(question):
        return True
    kinds = _BY_LANGUAGE.get(language)
    return (
        language != ENGLISH
        and kinds is not None
        and any(asks.search(question) for asks, _ in _wanted(kinds, language))
    )


def _agreement_in_language(question: str, sentence: str, language: str) -> float:
    if language == ENGLISH:
        return _agreement_in_english(question, sentence)
    if _ASKS_GERMAN_NAME.search(question):
        return AGREES if _GERMAN_NAME.search(sentence) else LACKS_WHOLLY
    if _ASKS_OWN_NAME.search(question):
        return AGREES if _unknown_name(question, sentence) else LACKS_WHOLLY
    kinds = _BY_LANGUAGE.get(language)
    for asks, has in _wanted(kinds, language) if kinds else ():
        if asks.search(question):
            return _found(has, sentence)
    return 0.0


def _found(has: re.Pattern[str], sentence: str) -> float:
    if has.search(_REFERENCE.sub("", sentence)):
        return AGREES
    return LACKS_WHOLLY if has in (_YEAR, _HAN_YEAR) else LACKS


def _agreement_in_english(question: str, sentence: str) -> float:
    if (first := _ASKS.search(question)) is None:
        return 0.0
    for asks, has in _wanted(_BY_LANGUAGE[ENGLISH], ENGLISH):
        if asks.match(question, first.start()):
            return _found(has, sentence)
    if _ASKS_NAME.match(question, first.start()):
        return AGREES if _unknown_name(question, sentence) else LACKS_NAME
    return 0.0


def _wanted(kinds: _Kinds, language: str) -> Sequence[tuple[re.Pattern[str], re.Pattern[str]]]:
    """Return what questions ask for and how sentences have it, the narrowest kind first."""
    return (
        (kinds.asks_year, _HAN_YEAR if language == CHINESE else _YEAR),
        (kinds.asks_time, kinds.time),
        (kinds.asks_number, kinds.number),
    )


def _names_unknown(question: str, sentence: str, language: str) -> bool:
    """Return whether a sentence has a name that the question lacks, where capitals tell names."""
    return language not in (GERMAN, CHINESE) and _unknown_name(question, sentence)


def _unknown_name(question: str, sentence: str) -> bool:
    """Return whether the sentence has a word with a capital, but the first, that the question
    lacks.
    """
    question_stems = {answer_stem(word) for word in _WORD.findall(question.lower())}
    return any(
        answer_stem(name.lower()) not in question_stems for name in _CAPITAL.findall(sentence)
    )

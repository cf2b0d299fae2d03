"""What narrow kinds of answers look like in any of six languages: a price, a duration, a degree.

A question for one of them is not answered by a number of another kind.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

_TIME_UNITS = (
    r"second|minut|hours?\b|days?\b|weeks?\b|months?\b|years?\b|"
    r"sekunde|stunde|tage?n?\b|woche|monat|jahr|"
    r"heures?\b|jours?\b|semaines?\b|mois\b|\bans?\b|années?\b|"
    r"second[oi]\b|minut[oi]\b|\bor[ae]\b|giorn[oi]\b|settiman[ae]\b|mes[ei]\b|ann[oi]\b|"
    r"segundo|horas?\b|días?\b|semanas?\b|mes(?:es)?\b|años?\b|quincena|"
    r"секунд|час|\bдн[яейю]|\bдень|сут(?:ки|ок)|недел|месяц|\bгод|\bлет\b|"
    r"[天日周月年]|小时|分钟|\b(?:until|bis|jusqu|hasta|до)\b"
)


TIME_UNIT = re.compile(_TIME_UNITS, re.I)
"""A unit of time, or a word for until when."""


@dataclass(frozen=True)
class NarrowKind:
    """How questions ask for a kind of answer, and what a sentence with one has."""

    asks: re.Pattern[str]
    has: re.Pattern[str]


def _kind(asks: str, has: str) -> NarrowKind:
    return NarrowKind(re.compile(asks, re.I), re.compile(has, re.I))


_KINDS: Sequence[NarrowKind] = (
    _kind(  # price
        r"\bhow (?:much|expensive) (?:money|does|do|did|is|are|was|will|must|should)\b.*"
        r"\b(?:costs?|pay|paid|charged?|price|fee)\b|\bhow expensive\b|"
        r"\bwhat (?:does|do|did) .*\bcosts?\b|\bwhat is the (?:price|fee|fare|cost)\b|"
        r"\bwas kostet|\bwas zahlt|\bwie ?viel\b.*\b(?:kostet|zahl|bezahl)|\bwie teuer|"
        r"\bwie hoch (?:ist|sind) (?:die|der|das) \w*(?:miete|gebühr|preis|kaution|beitrag|strafe)|"
        r"\bcombien\b.*\b(?:coût|pa[iy]e)|\bquel (?:est|sera) le (?:\w+ )?(?:prix|tarif)|"
        r"\bcu[aá]nto (?:\w+ )?(?:cuesta|costó|vale|cobra|paga)|"
        r"\bquanto (?:\w+ )?(?:cost\w*|si paga\w*|vale)|\bqual è il prezzo|"
        r"\bсколько\b.*\b(?:сто(?:ит|ил|ят)|плат)|\bкакая (?:зарплата|цена|плата)|多少钱|价格是",
        r"[€$£₽¥]|\b(?:euros?|eur|cents?|céntimos?|dollars?|pounds?|francs?|franken|pesos?|"
        r"руб\w*|копе\w*|тысяч\w*)\b|[元角块]|"
        r"\b(?:free|gratis|kostenlos|umsonst|unentgeltlich|gratuit\w*|бесплатн\w*)|免费|"
        r"\d[\d ]*,\d\d\b|(?<![\d.:])\d{1,4}\.\d\d(?![\d.:]|\s?(?:uhr|[ap]\.?m))",
    ),
    _kind(  # duration
        r"\bhow long (?:does|do|did|may|can|will|must|is it)\b(?!.*\bbe\b)|\bwie lange\b|"
        r"\bcombien de temps\b|\bquelle est la durée|\bcu[aá]nto (?:tiempo|dura)\b|"
        r"\bquanto (?:tempo|dura)\b|"
        r"\bкак долго|\bсколько времени|\bкакой срок|多久|多长时间|多少天|几[天年周]",
        _TIME_UNITS,
    ),
    _kind(  # temperature
        r"\btemp[eé]rat|\bhow (?:warm|hot|cold)\b|\bwie (?:warm|heiß|kalt)\b|температур|"
        r"多少度|水温",
        r"°|\bgrad\b|\bdegr|\bgrados?\b|градус|[\d零一二三四五六七八九十]度",
    ),
    _kind(  # weight
        r"\bhow heavy|\bhow much .*\bweighs?\b|\bwie schwer (?:ist|sind|darf)|\bwie ?viel wiegt|"
        r"\bcombien pèse|\bcu[aá]nto pesa|\bquanto pesa|"
        r"\bсколько .*(?:весит|весят)|\bкакой вес|多重",
        r"\b(?:kg|g|t|kilos?|pounds?|lb|tonn\w*)\b|\w*gram\w*|кг|кило|грамм|тонн|[斤克吨]",
    ),
    _kind(  # length
        r"\bhow (?:deep|tall|wide)\b|\bwie (?:tief|breit) (?:ist|sind)|"
        r"\bquelle (?:\w+ )*(?:longueur|profondeur|hauteur)|"
        r"\bquanto (?:è|sono) (?:profond|lung|alt|larg|lontan)|"
        r"\bcu[aá]nto mide|\bprofundidad|\bhondo|\bкакой (?:глубин|длин|высот|ширин)|多[深宽]",
        r"\b(?:m|km|cm|mm|ft|feet|foot|inch\w*|miles?)\b|met(?:er|re|ro|ri)\b|chilometr|метр|米|公里",
    ),
    _kind(  # time of day
        r"\b(?:at )?what time\b|\bum wie ?viel uhr|\bà quelle heure|\ba qu[eé] hora|\ba che ora|"
        r"\bво сколько|\bкакого часа|\bв котором часу|几点",
        r"\d{1,2}[:.]\d\d|\d ?(?:h|am|pm)\b|\b(?:uhr|o'clock|noon|midnight|heures?|midi|minuit|"
        r"mittags?|mitternacht|час\w*|ore|mezzogiorno|mezzanotte|утра|вечера|полдень|"
        r"полночь)\b|\blas? \w+|点",
    ),
    _kind(  # colour
        r"\bwhat colou?r|\bwelche farbe|\bquelle couleur|\bqu[eé] color|\bche colore|"
        r"\bкакого .*цвета|什么颜色",
        r"\b(?:red|green|blue|black|white|yellow|gr[ae]y|brown|rot|grün|blau|schwarz|weiß|gelb|"
        r"grau|braun|rouge|vert|bleu|noir|blanc|jaune|rojo|verde|azul|negro|blanco|amarillo|"
        r"rosso|nero|bianco|giallo|grigio|marrone)|"
        r"\b(?:красн|зел[её]н|син|ч[её]рн|бел|ж[её]лт|сер)\w*|[红绿蓝黑白黄灰]",
    ),
    _kind(  # country
        r"\b(?:which|what) country|\bwelchem land\b|\bquel pays|\bqu[eé] país|\bquale paese|"
        r"\bкакой стране|[哪什][个么一]?国家",
        r"\b(?!Land)\w+land\b|reich\b|\b(?:China|Chin[ae]|Itali\w+|Pol\w+|Japan|USA|Spain|España|"
        r"France|Росси\w+|Кита\w+|Германи\w+|Росси\w+)\b|[中美德英法韩泰]国|日本",
    ),
    _kind(  # date of what is past
        r"\bwhen (?:was|were)\b|\bwann (?:wurden?|entstand)\b|\bquand (?:a|ont) .*\bété\b|"
        r"\bcu[aá]ndo (?:se |fue )\w+(?:ó|aron|ieron|id[oa]|ad[oa])\b|"
        r"\bкогда (?:был|основан|постро|откры)",
        r"\d{3,4}|\b(?:january|february|march|april|may|june|july|august|september|october|"
        r"november|december|ago|century|years?|christmas|yesterday|(?:last|this|next) \w+|"
        r"januar|februar|märz|mai|juni|juli|oktober|dezember|jahr\w*|gestern|"
        r"janvier|février|mars|avril|juin|juillet|août|septembre|octobre|novembre|décembre|"
        r"enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|"
        r"diciembre|hace)\b|\b(?:январ|феврал|март|апрел|ма[йя]\b|июн|июл|август|сентябр|октябр|"
        r"ноябр|декабр)",
    ),
    _kind(  # place
        r"^\W*(?:wo(?:hin)?\b|où\b|(?:a |di )?(?:d[oó]nde|dove)\b|(?:где|куда)\b)|[在去到]哪里?",
        r"\b(?:i[nm]|a[nm]|auf|bei|beim|unter|über|neben|hinter|vor|zwischen|zu[mr]?|nach|ins)\b|"
        r"\b(?:à|aux?|dans|sur|sous|chez|près|devant|derrière|en|contre)\b|"
        r"\b(?:in|nel\w*|sull?\w*|accanto|dietro|sotto|sopra|presso|vicino|tra|fra)\b|"
        r"\b(?:a|al|junto|sobre|bajo|detrás|ante)\b|"
        r"\b(?:во?|на|у|под|над|за|около|возле|при|рядом)\b|[在到去往楼层处室厅旁里]",
    ),
    _kind(  # loudness
        r"\bhow loud|\bwie laut|\bquel (?:bruit|niveau sonore)|"
        r"\bнасколько (?:громко|шумно)|多少分贝",
        r"\bdb\b|dezibel|decibel|décibel|decibelio|децибел|дБ|分贝",
    ),
)


@lru_cache(maxsize=1 << 8)
def narrow_kind(question: str) -> NarrowKind | None:
    """Return the narrow kind of answer that a question asks for; None for another question."""
    return next((kind for kind in _KINDS if kind.asks.search(question)), None)

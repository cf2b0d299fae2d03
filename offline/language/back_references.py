"""Sentences that go on from the one before them, and are not understood without it."""

import re

_FIRST_WORDS = (
    # English
    "It|This|That|These|Those|They|He|She|Such|Both|Then|There|Otherwise|However|Therefore|Instead"
    "|Also|For example|For instance|In that case|If so|If not"
    # German
    "|Er|Sie|Dies|Diese|Dieser|Dieses|Diesen|Dann|Dort|Dabei|Danach|Dafür|Damit|Dazu|Deshalb|Daher"
    "|Sonst|Andernfalls|Jedoch|Allerdings|Außerdem|Auch|Zum Beispiel|Beispielsweise|In diesem Fall"
    # French
    "|Il|Elle|Ils|Elles|Cela|Ceci|Ce|Cet|Cette|Ces|C['’]est|Alors|Ensuite|Sinon|Cependant|Toutefois"
    "|Donc|Par exemple|De plus|Dans ce cas"
    # Spanish
    "|Este|Esta|Estos|Estas|Esto|Eso|Ese|Esa|Entonces|Luego|Sin embargo|Por eso|Por lo tanto"
    "|Por ejemplo|Además|También|Asimismo|De lo contrario|En ese caso|En este caso"
    # Russian
    "|Он|Она|Оно|Они|Это|Этот|Эта|Эти|Такой|Такая|Такое|Такие|Тогда|Затем|Иначе|Однако|Поэтому"
    "|Например|Кроме того|Также|При этом|В этом случае"
)
"""Words that refer back, or add to what was said."""

_FIRST_IN_HAN = "它|他|她|这|那|此|因此|所以|但|然而|否则|例如|比如|另外|同时|不过"

_BACK_REFERENCE = re.compile(rf"[\"“„«'*_]*(?:(?:{_FIRST_WORDS})\b|{_FIRST_IN_HAN})")


def refers_back(sentence: str) -> bool:
    """Return whether a sentence begins by referring to the one before it."""
    return _BACK_REFERENCE.match(sentence) is not None

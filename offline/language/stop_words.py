"""Words of grammar and of asking in questions, in English, German, French and Spanish."""

STOPWORDS = frozenset(
    """a about after all also am an and any are as at be because been before between both but by can could did do does
    during each either first for from had has have he her hers him his how i if in into is it its last made many me more
    most much my name no not of off on one only or other our out over same she should so some such tell than that the
    their them then there these they this those through to two under until up us used very was we were what when where
    whether which while who whom whose why will with would you your
    please need know give show find list explain describe
    der die das den dem des ein eine und oder ist war wer wie was wo wann welche welcher welches von zu im in mit für
    auf le la les un une des du de et ou est qui que quel quelle dans avec pour el los las una y o es quien cual del
    con para
    """.split()  # noqa: SIM905
)
"""Words that are never a name by themselves and that tell nothing about the topic of a question."""

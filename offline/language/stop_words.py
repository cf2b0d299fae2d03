"""Our own lists of stop words, all of English or with it; `languages` has those of other languages.
There are three, because each is bound to what was made with it.

Another word in `GRAMMAR_WORDS` changes which names are found, so what is extracted of a passage;
in `STOPWORDS` the index of walks and the table of similar words; in `FREQUENT_WORDS` the vectors
that stores hold under the name `lexical-hash-v1`.
"""

GRAMMAR_WORDS = frozenset(
    """
    a about above across after again against all almost along already also although always am among an and another any
    anybody anyone anything anywhere are aren't around as at away back be became because become becomes been before behind
    being below beside besides best better between beyond both but by came can can't cannot come could couldn't did didn't
    do does doesn't doing don't done down due during each either else enough etc even ever every everybody everyone
    everything everywhere except few find first following follows for from further furthermore gave get gets give given
    goes going gone got had has hasn't have haven't having he he'd he'll he's hence her here here's hers herself him himself
    his how however i i'd i'll i'm i've if in indeed inside instead into is isn't it it'd it'll it's its itself just keep
    kept know last later least less let let's like likely made make makes many may maybe me meanwhile might mine more
    moreover most mostly much must my myself near nearly neither never nevertheless next no nobody none nor not nothing now
    nowhere of off often on once one only onto or other others otherwise our ours ourselves out over own per perhaps please
    put quite rather really said same say says second see seem seems seen several shall she she'd she'll she's should
    shouldn't since so some somebody someone something sometimes soon still such take taken takes tell than that that's the
    their theirs them themselves then there there's thereby therefore these they they'd they'll they're they've third this
    those though through throughout thus to today together tomorrow too took toward towards under unless unlike until up
    upon us use used uses using usually various very via was wasn't way we we'd we'll we're we've well went were weren't
    what what's whatever when whenever where whereas wherever whether which whichever while who who's whoever whole whom
    whose why will with within without won't would wouldn't yes yesterday yet you you'd you'll you're you've your yours
    yourself
    """.split()  # noqa: SIM905
)
"""English words that carry grammar, not content: no names, and no terms of a question that a
sentence has to have.
"""

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
"""Words of grammar and of asking in English, German, French and Spanish: never a name by themselves,
and no topic of a question.
"""

FREQUENT_WORDS = frozenset(
    """a about after all also an and any are as at be been but by can could did do does for from had has have he her his
    how i if in into is it its may more most no not of on one or other our out she so some such than that the their them
    then there these they this to under up was we were what when where which who whose why will with would you your
    """.split()  # noqa: SIM905
)
"""Words that weigh little in a vector of hashed words; all are `GRAMMAR_WORDS`."""

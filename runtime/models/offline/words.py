"""Word lists of the offline heuristics: small, English, lower case. Those for Chinese stand in `han.py`."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


STOP = _words("""
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
""")
"""Words that carry grammar, not content."""

OPENERS = _words("""
according additional additionally afterwards alternatively altogether apart apparently approximately article articles
background based beginning briefly built chapter clearly click common commonly compared consequently conclusion
considering contact contents critics currently data default definition depending description designed despite details
developed discovered early earlier eventually example examples experts fact figure finally former formerly fortunately
founded founder founders four five formed general generally getting good great greater growing hello help hi high
historians home hopefully important improved including increasingly initially install installed interestingly
introduction key large largely late latter launched learn legal like little local located long main mainly major men
members modern money music named native nearby new news note notes notably number numbers obviously official
officially old open originally overall overview page part parts people perfect person personal play possible potential
previous previously primarily problem produced professional public published question questions quick quickly recent
recently related released remember reports required research researchers results returns right run running scientists
section sections select set short shortly show shows similar similarly simple simply six small sometimes special
specifically start starting steps step student students study studies subsequently successful summary support
surprisingly table ten test tests thank thanks think three time title total traditional traditionally two type types
typical typically ultimately unfortunately user users usage version view visit visitors want warning welcome women
words work call run add click create enter choose read check avoid ensure move copy save send remove workers working
works world write writers written year years young
""")
"""Content words that often begin a sentence and are then no name."""

CALENDAR = _words("""
january february march april may june july august september october november december jan feb mar apr jun jul aug sep
sept oct nov dec monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thurs fri sat sun
spring summer autumn winter
""")

CONNECTORS = _words("of de van von der den del della di da do dos du la le el al bin ibn the for y zu ter ten")
"""Words that may stand inside a name, never at its ends."""

PLACE_WORDS = _words("""
new north south east west northern southern eastern western great saint san santa los las el la le united royal
national central red black white green blue golden silver big little upper lower old first second third world mount
lake fort cape port grand
""")
"""Words that begin names although they also occur in lower case: New York, Red Hat."""

TITLES = _words("""
mr mrs ms dr prof sir lord lady dame king queen prince princess president senator governor mayor minister chancellor
judge justice captain colonel general lieutenant major sergeant admiral pope bishop cardinal saint st father sister
professor doctor ceo
""")
"""Words before a person's name."""

ABBREVIATIONS = _words("""
mr mrs ms dr prof sr jr st rev hon gen col capt lt sgt gov sen rep pres inc ltd co corp dept univ est approx no nos vol
vols pp ed eds fig figs eq sec ch al vs cf e.g i.e eg ie a.m p.m u.s u.k ph.d m.sc b.sc jan feb mar apr jun jul aug sep
sept oct nov dec mt ave blvd rd
""")
"""Words after which a dot ends no sentence."""

ORGANIZATION = _words("""
inc ltd llc plc corp corporation company co gmbh ag sa group holdings university college center centre institute
institution academy school laboratory laboratories labs lab foundation association society union bank ministry
department agency bureau commission committee council office party army navy police church club team league orchestra
band press times post hospital museum library airlines airways motors pictures studios entertainment systems
technologies software partners federation organization organisation authority service services court parliament senate
congress network consortium
""")
LOCATION = _words("""
river mountain mountains mount lake sea ocean bay gulf island islands valley desert forest park city town village
street avenue road square bridge tower castle palace county state province district region republic kingdom states
peninsula coast canyon falls beach harbor harbour airport station stadium cathedral temple africa america asia europe
australia antarctica afghanistan argentina austria bangladesh belgium brazil britain canada chile china colombia cuba
denmark egypt england ethiopia finland france germany greece hungary iceland india indonesia iran iraq ireland israel
italy japan kenya korea malaysia mexico morocco nepal netherlands nigeria norway pakistan peru philippines poland
portugal romania russia scotland singapore spain sweden switzerland syria taiwan thailand turkey ukraine uk usa
vietnam wales amsterdam athens atlanta baghdad bangkok barcelona beijing berlin boston brussels budapest cairo chicago
copenhagen dallas delhi detroit dublin edinburgh florence geneva hamburg helsinki houston istanbul jerusalem kyiv
lisbon london madrid melbourne miami milan montreal moscow mumbai munich naples nairobi oslo paris philadelphia prague
rome seattle seoul shanghai shenzhen stockholm sydney tehran tokyo toronto vancouver venice vienna warsaw washington
zurich california texas florida alabama alaska arizona colorado georgia hawaii illinois massachusetts michigan nevada
ohio oregon pennsylvania virginia
""")
EVENT = _words("""
war battle revolution conference olympics festival summit crisis election elections treaty championship championships
cup games expedition massacre earthquake hurricane rebellion uprising siege symposium congress awards prize
""")
CONTENT = _words(
    "novel book film movie album song poem painting opera symphony magazine journal newspaper documentary series"
)
GIVEN_NAMES = _words("""
adam ada alan albert alex alexander alice andrew anna anne anthony arthur barbara benjamin bill bob carl carol
caroline catherine charles charlotte chris christopher claude daniel david diana donald dorothy edward elena elizabeth
emily emma eric ernest eva francis frank franz fred gene frederick george grace hans harry helen henri henry howard
hugh isaac jack jacob james jane jean jennifer jim joan john jonathan joseph juan julia karen karl kate katherine
kevin larry laura linda linus lisa louis louise lucy ludwig luis marcus margaret maria marie mark martha martin mary
matthew max michael michelle mike nancy neil niels nicholas nikola oliver oscar otto pablo patricia patrick paul peter
pierre rachel ralph rebecca richard robert roger ronald rosa ruth sam samuel sandra sara sarah simon sofia sophie
stephen steve steven susan thomas tim tom victor victoria vincent virginia walter werner wilhelm william wolfgang
""")
NATIONALITIES = _words("""
american british english french german italian spanish chinese japanese russian indian dutch swedish danish norwegian
polish greek turkish egyptian canadian australian mexican brazilian irish scottish welsh european african asian korean
austrian swiss belgian portuguese hungarian czech ukrainian iranian israeli arab christian jewish muslim
""")
"""Adjectives with a capital: part of a name, no name alone."""

"""Word lists of the offline heuristics: small, English, lower case. Those for Chinese stand in
`han.py`.
"""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


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
access action algorithms alternative arguments arithmetic array arrays assignment attribute attributes base basic
basics binary block body built-in bytes call calls case cases character characters class classes client code column
columns commands comment comments comparison complete component components condition conditional configuration constant
constants container context core count current custom date dates day deprecated descriptions design dictionary directory
directories display document documents element elements empty end entry error errors event events exception exceptions
expression expressions extra false family fast field fields file files final first flag flags format formats formatter
frame full function functions future generator global group groups handler header headers history identifier identifiers
index input inputs instance instances integer integers internal item items iterator key keys keyword keywords kind
language languages law length level levels library limit limits line lines list lists literal literals logic mapping
mappings menu message messages method methods mode model models modern module modules multiple names namespace
namespaces node nodes numeric object objects operation operations operator operators optional options order output
package packages parameter parameters parser path paths pattern patterns place point points position process processes
program programmer programs property queries query record records remaining requests response rest result root row rows
rule rules sample schema script self sequence sequences server servers service services session signal single size
sorting source sources stage standard state statement statements store stores stream string strings structure style
subject suite syntax system systems tables tag tags target task tasks template term terminal terms text thread threads
timer token tokens tool tools transfer tree tuple tuples twice unit units unknown unset value values variable variables
vectors versions whole window wildcard wildcards
""")
"""Content words that often begin a sentence and are then no name."""

VERBS = _words("""
accept access act add adjust adopt allow analyze announce answer appear append apply arrange ask assign assume attach
avoid bind break bring build calculate call cancel cause change check choose clean clear close collect combine compare
compile complete compute configure connect consider consist construct consume contain continue control convert copy
count cover create customize debug decide declare decode decorate deduce define delete delegate deliver demonstrate
depend describe deserialize detect determine develop differ disable discard discover display divide document draw drop
edit emit emulate enable encode encounter end ensure enter enumerate establish evaluate examine exchange execute exist
exit expand expect explain expose express extend extract fail fetch fill filter find finish fit fix flush follow force
format found gather generate get give go group grow guess handle happen help hide hold ignore implement imply import
improve include increase indicate inherit initialize insert inspect install integrate interpret introduce invoke involve
join jump keep know launch lay lead learn leave let limit link list listen load locate log look lose maintain make
manage map mark match mean measure mention merge modify mount move multiply name need note notice obtain offer omit open
operate order override own pack parse pass patch pause perform place play point prefer prepare present preserve prevent
print process produce promise prompt propose protect prove provide publish pull push put query queue quote raise
reach read receive recognize recommend record recover reduce refer reference register reject relate release rely remain
remember remove rename render repeat replace report represent request require reset resolve respond restart restore
restrict resume retrieve retry return reuse reverse rewrite roll round run save scan schedule search see seek select
send separate serialize serve set shift show shut simplify sit skip sort specify split stand start state stay stop
store stream study subclass submit subscribe substitute succeed suggest supply support suppose suppress switch take tell
terminate test think throw trace track transfer transform translate traverse trigger truncate try turn understand undo
unpack update upgrade upload use validate verify view visit wait walk want warn watch work wrap write yield
""")
"""Verbs that begin sentences of manuals, in their first form: a word that is one of these is no
name there.
"""

FINITE = _words("""
is was has had does did will would can could may might must shall should became becomes began begins won wrote writes
gave gives made makes took takes held holds led leads grew fell ran runs came comes went goes met saw sees knew knows
built bought sold sent lost left kept said says told found thought brought taught wore spoke drew flew rose chose
""")
"""Verb forms that a name may stand before, beside those that end with -ed or -s."""

PREPOSITIONS = _words("""
about against among around at before between by during for from in into near of on onto over through to toward towards
under upon via with within
""")
"""Words that may end the phrase between two names."""

FOREIGN_OPENERS = _words("""
der die das den dem des ein eine einen einem einer es er sie wir ihr ich und oder aber im am mit von für auf nach bei
zum zur als wenn auch noch nur so wie aus bis durch gegen ohne um seit während dieser diese dieses seine ihre nicht ist
le les un une il elle ils elles nous vous et mais dans en sur avec pour par ce cet cette ces son sa ses leur leurs au
aux dès depuis après avant selon lorsque quand comme si qui que où ne se est
el los las una unos unas y pero con por para su sus este esta estos estas como no al desde hasta según cuando donde es
lo gli uno i nel nella con per questo questa quando dove anche è o os as um uma mas em com seu sua
в на он она они это и но с по из для что как к у от за при после
""")
"""Words of grammar that begin sentences in German, French, Spanish, Italian, Portuguese and
Russian.
"""

GERMAN = _words(
    "der die das und ist nicht ein eine mit von den dem des im auf für sich auch wird wurde als bei"
)
"""Words that tell German, where every noun has a capital."""

NO_NAMES = _words("""
true false none null nil nan traceback todo fixme xxx ok kb mb gb tb kib mib gib tib ms utc copyright rights reserved
note notes warning see also yes no meaning footnote footnotes
""")
"""Words that are written like names and name nothing."""

CALENDAR = _words("""
january february march april may june july august september october november december jan feb mar apr jun jul aug sep
sept oct nov dec monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thurs fri sat sun
spring summer autumn winter
januar februar märz mai juni juli oktober dezember montag dienstag mittwoch donnerstag freitag samstag sonntag
janvier février mars avril juin juillet août septembre octobre novembre décembre
enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
""")

CONNECTORS = _words(
    "of de van von der den del della di da do dos du la le el al bin ibn the for y zu ter ten"
)
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
sept oct nov dec mt ave blvd rd nr z.b bzw usw u.a d.h ca bd hr fr str m mm mme mlle sra srta ud uds av p.ej
""")
"""Words after which a dot ends no sentence."""

ORGANIZATION = _words("""
inc ltd llc plc corp corporation company co gmbh ag sa group holdings university college center centre institute
institution academy school laboratory laboratories labs lab foundation association society union bank ministry
department agency bureau commission committee council office party army navy police church club team league orchestra
band press times post hospital museum library airlines airways motors pictures studios entertainment systems
technologies software partners federation organization organisation authority service services court parliament senate
congress network consortium shipyard shipyards brewery bakery clinic hotel factory workshop theatre theater opera
observatory trust fund union cooperative guild
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
    "novel book film movie album song poem painting opera symphony magazine journal newspaper "
    "documentary series"
)
GIVEN_NAMES = _words("""
aaron abigail ada adam adrian agnes alan albert albrecht alejandro aleksandr alex alexander alexei alfred alice alicia
alina amelia amy anastasia andrea andreas andrei andrew angela angelika anita anja anna anne annette annika anthony
anton antonia antonio arnold arthur astrid audrey axel barbara beatrice beatriz ben benedict benjamin bernard bernd
bertha bettina bill birgit bob boris brian brigitte bruno camille carl carla carlos carmen carol caroline catherine
cecilia charles charlie charlotte chris christian christina christine christoph christopher claire clara claude
claudia clemens clive colin conrad cristina cyril daisy damian dan daniel daphne dave david deborah dennis derek diana
diego dieter dietrich dimitri dirk dmitri dominik donald dora doris dorothy douglas duncan edgar edith edmund eduard
eduardo edward edwin eileen ekaterina eleanor elena elias elisabeth elise elizabeth ella ellen elsa elsie emil emilia
emilio emily emma emmanuel enrique eric erich erik erika ernest ernesto erwin esther ethel eugen eugene eva evelyn
fabian felipe felix fernando fiona florian frances francis francisco francois frank franz franziska françois fraser
fred frederick frida friedrich fritz gabriel gabriela gene georg george georges gerald gerard gerhard gertrude gilbert
giovanni gisela giulia giuseppe gloria gordon grace graham greta gretchen guillaume gustav hannah hans harold
harriet harry hartmut heather hector hedwig heike heinrich heinz helen helena helga helmut henri henry herbert hermann
hilda howard hugh hugo ian ida ignacio igor ilse ines inge ingrid irene irina iris isaac isabel isabella isabelle ivan
jack jacob jaime james jan jane janet jason javier jean jennifer jeremy jesse jessica jim joachim joan jochen johann
johanna johannes john jonas jonathan jorge jose josef josefa joseph josephine joshua josé joyce juan juergen jules
julia julian juliane julie julius justin jürgen karen karin karl karla kate katharina katherine kathleen katja keith
kenneth kerstin kevin klara klaus konrad konstantin kurt larry lars laura laurent lena leo leon leonard leonardo
leonid leonora lewis lillian lina linda linus lisa lisbeth lorenzo lothar louis louisa louise luca lucas lucia lucy
ludwig luigi luis luise lukas lydia mabel magda magdalena maja manfred manuel manuela marc marcel marco marcus
margaret margarete margarita maria mariana marianne marie marina mario mark marlene marta martha martin mary mathilde
matteo matthew matthias maurice max maxim melanie michael michel michelle miguel mike mikhail mila millie milton mina
mira miriam moritz muriel nadia nancy natalia natalie nathan nathaniel neil nicholas nicolas nicole niels nigel nikita
nikola nikolai nina nora norbert norman olaf oleg olga oliver olivia olivier oscar oswald ottilie otto pablo patricia
patricio patrick paul paula pauline pavel pedro percy peter petra philip philipp phyllis pierre rachel rafael raimund
rainer ralf ralph ramon raphael raymond rebecca regina reinhard renate rene rené ricardo richard robert roberta
roberto rodrigo roger roland rolf roman ronald rosa rudolf rupert ruprecht ruth sabine salvador sam samantha samuel
sandra sara sarah sebastian sergei sergio shirley sibylle siegfried sigrid silvia simon simone sofia sonja sophie
stanley stefan stefanie stella stephen steve steven stuart susan susanne sven svetlana sylvia tamara tanja tatiana
teresa thea theodor theodore theresa therese thomas tim tobias tom tony ulrich ulrike ursula uwe valentin valentina
valerie vera vernon veronica victor victoria viktor vincent vincenzo violet virginia vladimir volker walter
waltraud wanda wendy werner wilfred wilhelm wilhelmina william wilma winston wolfgang xavier yuri yvonne адам
александр алексей алина алёна анастасия андрей анна антон борис вадим валентина вера виктор владимир галина георгий
дарья денис дмитрий евгений екатерина елена иван игорь ирина кирилл константин ксения лев леонид людмила максим марина
мария михаил надежда наталья никита николай олег ольга павел полина пётр роман светлана сергей софья степан татьяна
фёдор юлия юрий
""")
NATIONALITIES = _words("""
american british english french german italian spanish chinese japanese russian indian dutch swedish danish norwegian
polish greek turkish egyptian canadian australian mexican brazilian irish scottish welsh european african asian korean
austrian swiss belgian portuguese hungarian czech ukrainian iranian israeli arab christian jewish muslim
""")
"""Adjectives with a capital: part of a name, no name alone."""

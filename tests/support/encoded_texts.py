"""Prose in many languages, with the encodings in which files of that language are found."""

from typing import NamedTuple


class Sample(NamedTuple):
    """A text of one language: a line of it, a paragraph of it, and the encodings it is written
    in.
    """

    language: str
    line: str
    paragraph: str
    encodings: tuple[str, ...]


SAMPLES = (
    Sample(
        "French",
        "Hélène Lefèvre dirige le bureau du port depuis l'été dernier.",
        "Hélène Lefèvre dirige le bureau du port depuis l'été dernier. Elle a succédé à "
        "Benoît Garçon, parti à la "
        "retraite après trente années de service. Les pêcheurs du quartier espèrent que le "
        "nouveau quai sera achevé "
        "avant l'hiver, car l'ancien a été endommagé par la tempête de février. Où iront les "
        "bateaux, si les travaux "
        "sont retardés ? Le maire a répondu qu'un débarcadère provisoire serait aménagé près "
        "du phare.",
        ("cp1252", "iso-8859-1"),
    ),
    Sample(
        "Swedish",
        "Åsa Öberg förvaltar hamnkontoret i Västerås sedan i våras.",
        "Åsa Öberg förvaltar hamnkontoret i Västerås sedan i våras. Hon efterträdde Göran "
        "Sjöström, som gick i pension "
        "efter trettio års tjänst. Fiskarna hoppas att den nya kajen ska vara färdig före "
        "vintern, eftersom den gamla "
        "skadades av stormen i februari. Kommunen svarade att en tillfällig brygga ska byggas "
        "nära fyren, så att "
        "båtarna kan lägga till även när isen ligger.",
        ("cp1252", "iso-8859-1"),
    ),
    Sample(
        "German",
        "Jürgen Müller führt das Hafenamt in Lübeck seit dem Frühjahr.",
        "Jürgen Müller führt das Hafenamt in Lübeck seit dem Frühjahr. Er löste Käthe Größer "
        "ab, die nach dreißig "
        "Jahren in den Ruhestand ging. Die Fischer hoffen, dass der neue Kai vor dem Winter "
        "fertig wird, denn der alte "
        "wurde im Februar vom Sturm beschädigt. Der Bürgermeister erklärte, ein vorläufiger "
        "Anleger werde in der Nähe "
        "des Leuchtturms errichtet, damit die Boote auch bei Eisgang anlegen können.",
        ("cp1252", "iso-8859-1"),
    ),
    Sample(
        "Spanish",
        "El señor Núñez dirige la oficina del puerto desde el año pasado.",
        "El señor Núñez dirige la oficina del puerto desde el año pasado. Sucedió a María "
        "Peña, que se jubiló después "
        "de treinta años de servicio. Los pescadores esperan que el nuevo muelle esté "
        "terminado antes del otoño, "
        "porque el viejo quedó dañado por el temporal de febrero. ¿Dónde atracarán los barcos "
        "si las obras se "
        "retrasan? El alcalde respondió que habrá un embarcadero provisional junto al faro de "
        "la bahía.",
        ("cp1252", "iso-8859-1"),
    ),
    Sample(
        "Portuguese",
        "João Gonçalves é o responsável pela administração do porto.",
        "João Gonçalves é o responsável pela administração do porto desde março. Sucedeu a "
        "Conceição Araújo, que se "
        "aposentou após trinta anos de serviço. Os pescadores esperam que o novo cais não "
        "fique pronto só depois do "
        "inverno, pois o antigo foi danificado pela tempestade de fevereiro. A câmara "
        "respondeu que haverá uma "
        "estação provisória junto ao farol, para que as embarcações possam atracar também à noite.",
        ("cp1252", "iso-8859-1"),
    ),
    Sample(
        "Danish",
        "Søren Kjærgård leder havnekontoret på Ærø siden i fjor.",
        "Søren Kjærgård leder havnekontoret på Ærø siden i fjor. Han afløste Bodil Nørgaard, "
        "som gik på pension efter "
        "tredive års tjeneste. Fiskerne håber, at den nye kaj bliver færdig før vinteren, for "
        "den gamle blev "
        "beskadiget af stormen i februar. Borgmesteren svarede, at der bygges en midlertidig "
        "anløbsbro nær fyret, så "
        "bådene også kan lægge til, når der er is på vandet.",
        ("cp1252", "iso-8859-1"),
    ),
    Sample(
        "Icelandic",
        "Þórður Guðmundsson stýrir hafnarskrifstofunni á Ísafirði.",
        "Þórður Guðmundsson stýrir hafnarskrifstofunni á Ísafirði síðan í vor. Hann tók við "
        "af Sigríði Ólafsdóttur, "
        "sem fór á eftirlaun eftir þrjátíu ára starf. Sjómenn vona að nýja bryggjan verði "
        "tilbúin fyrir veturinn, því "
        "sú gamla skemmdist í óveðrinu í febrúar. Bæjarstjórinn svaraði að bráðabirgðabryggja "
        "yrði reist við vitann.",
        ("cp1252", "iso-8859-1"),
    ),
    Sample(
        "Finnish",
        "Päivi Hämäläinen johtaa satamatoimistoa Jyväskylässä.",
        "Päivi Hämäläinen johtaa satamatoimistoa Jyväskylässä. Hän seurasi Väinö Mäkistä, "
        "joka jäi eläkkeelle "
        "kolmenkymmenen vuoden jälkeen. Kalastajat toivovat, että uusi laituri on valmis "
        "ennen talvea, sillä vanha "
        "vaurioitui helmikuun myrskyssä. Pormestari vastasi, että väliaikainen laituri "
        "rakennetaan lähelle majakkaa.",
        ("cp1252", "iso-8859-1"),
    ),
    Sample(
        "Italian",
        "La società è già più attiva perché il porto è tornato libero.",
        "La società è già più attiva perché il porto è tornato libero. Niccolò Rossi ha preso "
        "il posto di Maria Bonfà, "
        "che è andata in pensione dopo trent'anni di servizio. I pescatori sperano che la "
        "nuova banchina sia pronta "
        "prima dell'inverno, poiché la vecchia è stata danneggiata. Il sindaco ha risposto "
        "che ci sarà un pontile.",
        ("cp1252", "iso-8859-1"),
    ),
    Sample(
        "Polish",
        "Zażółć gęślą jaźń, powiedział Łukasz Wiśniewski w porcie.",
        "Łukasz Wiśniewski kieruje urzędem portowym w Świnoujściu od wiosny. Zastąpił "
        "Małgorzatę Dąbrowską, która "
        "przeszła na emeryturę po trzydziestu latach pracy. Rybacy mają nadzieję, że nowe "
        "nabrzeże będzie gotowe "
        "przed zimą, ponieważ stare zostało uszkodzone podczas lutowego sztormu. Burmistrz "
        "odpowiedział, że w pobliżu "
        "latarni morskiej powstanie tymczasowa przystań, żeby łodzie mogły cumować także w nocy.",
        ("cp1250", "iso-8859-2"),
    ),
    Sample(
        "Czech",
        "Jiří Dvořák řídí přístavní úřad v Děčíně už od loňského léta.",
        "Jiří Dvořák řídí přístavní úřad v Děčíně už od loňského léta. Nahradil Zdeňku "
        "Růžičkovou, která odešla do "
        "důchodu po třiceti letech služby. Rybáři doufají, že nové nábřeží bude hotové před "
        "zimou, protože staré "
        "poškodila únorová bouře. Starosta odpověděl, že poblíž majáku vznikne dočasné "
        "přístaviště, aby lodě mohly "
        "kotvit i v noci, když řeka zamrzá.",
        ("cp1250", "iso-8859-2"),
    ),
    Sample(
        "Hungarian",
        "Kovács Győző vezeti a kikötői hivatalt Győrben tavaly óta.",
        "Kovács Győző vezeti a kikötői hivatalt Győrben tavaly óta. Elődje, Szűcs Ágnes, "
        "harminc év szolgálat után "
        "vonult nyugdíjba. A halászok remélik, hogy az új rakpart még a tél előtt elkészül, "
        "mert a régit megrongálta "
        "a februári vihar. A polgármester azt válaszolta, hogy a világítótorony közelében "
        "ideiglenes kikötőhely "
        "épül, így a hajók éjszaka is kiköthetnek.",
        ("cp1250", "iso-8859-2"),
    ),
    Sample(
        "Romanian",
        "Ştefan Ionescu conduce căpitănia portului Constanţa de un an.",
        "Ştefan Ionescu conduce căpitănia portului Constanţa de un an. El i-a urmat Mariei "
        "Bălan, care s-a pensionat "
        "după treizeci de ani de muncă. Pescarii speră că noul chei va fi gata înainte de "
        "iarnă, fiindcă cel vechi a "
        "fost avariat de furtuna din februarie. Primarul a răspuns că lângă far se va "
        "construi un debarcader "
        "provizoriu, astfel încât bărcile să poată acosta şi noaptea.",
        ("cp1250", "iso-8859-2"),
    ),
    Sample(
        "Russian",
        "Начальник порта Иван Щербаков подписал новый указ вчера.",
        "Начальник порта Иван Щербаков подписал новый указ вчера. Он сменил Ольгу Жукову, "
        "которая ушла на пенсию "
        "после тридцати лет службы. Рыбаки надеются, что новый причал будет готов до зимы, "
        "потому что старый был "
        "повреждён февральским штормом. Мэр ответил, что рядом с маяком построят временную "
        "пристань.",
        ("cp1251", "koi8-r", "iso-8859-5", "cp866"),
    ),
    Sample(
        "Ukrainian",
        "Начальник порту Іван Ющенко підписав новий указ учора ввечері.",
        "Начальник порту Іван Ющенко підписав новий указ учора ввечері. Він змінив Олену "
        "Їжакевич, яка пішла на "
        "пенсію після тридцяти років служби. Рибалки сподіваються, що новий причал буде "
        "готовий до зими, бо старий "
        "пошкодив лютневий шторм. Міський голова відповів, що біля маяка збудують тимчасову "
        "пристань.",
        ("cp1251", "koi8-u"),
    ),
    Sample(
        "Greek",
        "Ο Γιώργος Παπαδόπουλος διευθύνει το λιμεναρχείο του Πειραιά.",
        "Ο Γιώργος Παπαδόπουλος διευθύνει το λιμεναρχείο του Πειραιά από την άνοιξη. "
        "Διαδέχθηκε την Ελένη "
        "Οικονόμου, η οποία συνταξιοδοτήθηκε έπειτα από τριάντα χρόνια υπηρεσίας. Οι ψαράδες "
        "ελπίζουν ότι η νέα "
        "προβλήτα θα είναι έτοιμη πριν από τον χειμώνα, γιατί η παλιά έπαθε ζημιές από την "
        "καταιγίδα.",
        ("cp1253", "iso-8859-7"),
    ),
    Sample(
        "Turkish",
        "Ayşe Yıldız geçen yıldan beri İzmir liman müdürlüğünü yönetiyor.",
        "Ayşe Yıldız geçen yıldan beri İzmir liman müdürlüğünü yönetiyor. Otuz yıl "
        "çalıştıktan sonra emekli olan "
        "Çağlar Öztürk'ün yerine geçti. Balıkçılar yeni rıhtımın kıştan önce hazır olacağını "
        "umuyor, çünkü eskisi "
        "şubat fırtınasında hasar gördü. Belediye başkanı, deniz fenerinin yanına geçici bir "
        "iskele yapılacağını "
        "ve teknelerin geceleri de yanaşabileceğini söyledi.",
        ("cp1254", "iso-8859-9"),
    ),
    Sample(
        "Hebrew",
        "מנהל הנמל דוד לוי חתם אתמול על ההסכם החדש בחיפה.",
        "מנהל הנמל דוד לוי חתם אתמול על ההסכם החדש בחיפה. הוא החליף את רחל כהן, שפרשה לאחר "
        "שלושים שנות שירות. "
        "הדייגים מקווים שהרציף החדש יהיה מוכן לפני החורף, כי הישן ניזוק בסערה של פברואר. ראש "
        "העיר השיב שליד "
        "המגדלור ייבנה מזח זמני, כדי שהסירות יוכלו לעגון גם בלילה.",
        ("cp1255", "iso-8859-8"),
    ),
    Sample(
        "Arabic",
        "وقع مدير الميناء أحمد حسن الاتفاق الجديد أمس في بيروت.",
        "وقع مدير الميناء أحمد حسن الاتفاق الجديد أمس في بيروت. وقد خلف فاطمة علي التي تقاعدت "
        "بعد ثلاثين عاما من "
        "الخدمة. ويأمل الصيادون أن يكون الرصيف الجديد جاهزا قبل الشتاء، لأن القديم تضرر من "
        "عاصفة فبراير. وأجاب "
        "رئيس البلدية بأن مرسى مؤقتا سيبنى قرب المنارة حتى تتمكن القوارب من الرسو ليلا.",
        ("cp1256", "iso-8859-6"),
    ),
    Sample(
        "Japanese",
        "港湾局の新しい局長は山田花子さんで、昨日着任しました。",
        "港湾局の新しい局長は山田花子さんで、昨日着任しました。三十年勤めた佐藤さんの後任です。漁師たちは冬までに新しい"
        "岸壁が完成することを期待しています。古い岸壁は二月の嵐で壊れたからです。市長は、灯台のそばに仮の桟橋を作ると"
        "答えました。これで夜でも船が着けるようになります。",
        ("cp932", "euc-jp", "iso2022_jp"),
    ),
    Sample(
        "Chinese (simplified)",
        "港务局新任局长李明昨天签署了关于码头改造的决定。",
        "港务局新任局长李明昨天签署了关于码头改造的决定。他接替了工作三十年后退休的王芳。渔民们希望新码头能在冬天之前"
        "完工，因为旧码头在二月的风暴中受损。市长回答说，将在灯塔附近修建一座临时码头，这样船只夜间也可以停靠。",
        ("gb18030",),
    ),
    Sample(
        "Chinese (traditional)",
        "港務局新任局長陳志明昨天簽署了關於碼頭改建的決定。",
        "港務局新任局長陳志明昨天簽署了關於碼頭改建的決定。他接替了工作三十年後退休的林美華。漁民們希望新碼頭能在冬天"
        "之前完工，因為舊碼頭在二月的風暴中受損。市長回答說，將在燈塔附近修建一座臨時碼頭，這樣船隻夜間也可以停靠。",
        ("big5",),
    ),
    Sample(
        "Korean",
        "항만청의 새 청장 김영희 씨가 어제 취임했습니다.",
        "항만청의 새 청장 김영희 씨가 어제 취임했습니다. 그는 삼십 년 동안 근무하고 퇴직한 박철수 씨의 후임입니다. "
        "어민들은 겨울이 오기 전에 새 부두가 완성되기를 바라고 있습니다. 옛 부두가 이월의 폭풍으로 부서졌기 "
        "때문입니다. "
        "시장은 등대 근처에 임시 부두를 만들겠다고 대답했습니다.",
        ("euc-kr",),
    ),
    Sample(
        "Thai",
        "นายสมชายเป็นผู้อำนวยการท่าเรือคนใหม่ตั้งแต่เมื่อวาน",
        "นายสมชายเป็นผู้อำนวยการท่าเรือคนใหม่ตั้งแต่เมื่อวาน "
        "ชาวประมงหวังว่าท่าเรือใหม่จะเสร็จก่อนฤดูหนาว "
        "เพราะท่าเก่าเสียหายจากพายุเมื่อเดือนกุมภาพันธ์ "
        "นายกเทศมนตรีตอบว่าจะสร้างท่าชั่วคราวใกล้ประภาคาร",
        ("cp874",),
    ),
)

NAMES = (
    ("Ferdinand Lefèvre lives in Paris.", "cp1252"),
    ("Åsa Lind, Port Elm", "cp1252"),
    ("Name: Müller", "cp1252"),
    ("naïve café", "cp1252"),
    ("The price is 5 £ at the café — “fresh”.", "cp1252"),
    ("It’s the captain’s log.", "cp1252"),
    ("Señor Núñez", "cp1252"),
    ("Bjørn Æbeltoft", "cp1252"),
    ("São João da Madeira", "cp1252"),
    ("François Mitterrand était président.", "cp1252"),
    ("Äänekoski", "cp1252"),
)
"""A few words with a letter or two beyond ASCII, as a short note or a long English text has
them.
"""

#include "text/language/stop_words.h"

#include <string.h>

#include "base/hash.h"

/* Serbian is written in two scripts, and Arabic with and without the hamza of an alif. */
static const struct stop_word_list own_lists[] = {
    {"ar", "في من على إلى الى عن مع هذا هذه ذلك تلك هؤلاء أولئك الذي التي الذين اللذان اللتان ما "
           "ماذا لا لم لن ليس ليست كان كانت كانوا يكون تكون و أو او أم ام ثم بل لكن إن أن ان إذا "
           "اذا إذ اذ لو كي حتى منذ عند عندما بعد قبل بين تحت فوق أمام امام خلف خلال حول دون بدون "
           "غير سوى كل بعض أي اي أية هو هي هم هن هما أنا انا نحن أنت انت أنتم انتم قد لقد سوف هل "
           "كيف أين اين متى كما مثل لماذا حيث هناك هنا أيضا ايضا كذلك إنه أنه انه إنها أنها انها "
           "له لها لهم لنا لي لك به بها بهم فيه فيها فيهم منه منها منهم عليه عليها عليهم إليه اليه "
           "إليها اليها عنه عنها معه معها بما مما إلا الا وهو وهي ولا ولم وما وفي ومن وعلى وإلى "
           "والتي والذي"},
    {"ca", "el la els les lo los l un una uns unes de d del dels al als a en n amb per pel pels i "
           "o ni que què qui quin quina quins quines com quan on si no sí és són era eren ser "
           "estar està estan estava fou foren sigui siguin he has ha hem heu han havia havien hi "
           "ho em et es s ens us m t li se jo tu ell ella nosaltres vosaltres ells elles meu meva "
           "meus meves teu teva teus teves seu seva seus seves nostre nostra nostres vostre "
           "vostra vostres aquest aquesta aquests aquestes aquell aquella aquells aquelles això "
           "allò sobre sota entre sense fins des contra dins fora durant segons perquè però doncs "
           "sinó ja també molt més menys tan tant tot tota tots totes cada altre altra altres "
           "mateix mateixa qual quals"},
    {"el", "ο η το οι τα του της των τον την τους τις τη στο στη στην στον στους στις στα ένας μια "
           "μία ένα ενός μιας και κι ή είτε ούτε αλλά όμως ότι πως που όταν αν εάν για από με σε "
           "προς κατά μετά χωρίς μέχρι έως παρά αντί ως σαν όπως εγώ εσύ αυτός αυτή αυτό αυτοί "
           "αυτές αυτά αυτού αυτής αυτών αυτόν αυτήν αυτούς εμείς εσείς μου σου μας σας ποιος "
           "ποια ποιο ποιοι ποιες ποιων τι πού πώς γιατί εκείνος εκείνη εκείνο εκείνοι εκείνες "
           "εκείνα οποίος οποία οποίο οποίοι οποίες οποίων οποίου οποίας δεν δε μη μην να θα ας "
           "είμαι είσαι είναι είμαστε είστε ήμουν ήσουν ήταν ήμασταν έχω έχεις έχει έχουμε έχετε "
           "έχουν είχα είχε είχαν πιο κάθε κάποιος κάποια κάποιο όλος όλη όλο όλοι όλες όλα"},
    {"eu", "eta edo baina baita ere ez bai da dira zen ziren naiz zara gara zarete dago daude "
           "zegoen zeuden du dute zuen zuten dut duzu dugu duzue nuen dio diote zion zioten izan "
           "ukan egon bat batzuk hau hori hura hauek horiek haiek honek horrek hark ni zu hi gu "
           "zuek nik zuk guk nire zure bere beren haien gure honen horren haren honetan horretan "
           "hartan hemen hor han nor zer zein non noiz nola zergatik bera berak eurak baino "
           "bezala arte gero ondoren gabe artean zehar buruz ala baldin bada"},
    {"ga", "an na a ag ar as chun chuig de do go i idir in le ó roimh sa san sna thar trí um faoi "
           "gan agus nó ach má dá mura ná ní níl nach cé cad conas cá cathain tá bhí beidh bíonn "
           "bheith is ba bhfuil raibh mé tú sé sí muid sinn sibh siad é í iad mo ár bhur seo sin "
           "siúd agam agat aige aici againn agaibh acu dom duit dó di dúinn daoibh dóibh liom "
           "leat leis léi linn libh leo orm ort air uirthi orainn oraibh orthu ann inti iontu "
           "uaim uaidh den don ón faoin féin gach mar"},
    {"hi", "का के की को से में पर ने है हैं था थे थी थीं हो हूँ हूं हुआ हुई हुए होता होती होते होना रहा रही रहे गया "
           "गई गए जाता जाती जाते और या तथा एवं व लेकिन परन्तु परंतु किन्तु मगर कि जो जिस जिसे जिन "
           "जिनके जिसके जिसकी जिसका वह वे यह ये इस इन उस उन इसे उसे इन्हें उन्हें इसके इसकी इसका उसके "
           "उसकी उसका उनके उनकी उनका इनके इनकी इनका मैं हम तुम आप मुझे हमें तुम्हें आपको मेरा मेरी मेरे "
           "हमारा हमारी हमारे आपका आपकी आपके अपना अपनी अपने तो भी ही न नहीं मत क्या क्यों कैसे कब "
           "कहाँ कहां कौन किस किसी कोई कुछ सब सभी यदि अगर तक लिए साथ बाद द्वारा बीच जब तब जैसे ऐसे "
           "ऐसा ऐसी कर करके"},
    {"hy", "և ու կամ իսկ բայց որ թե եթե ինչ ով որը որոնք որի այս այդ այն սա դա նա սրանք դրանք "
           "նրանք ես դու մենք դուք ինձ քեզ մեզ ձեզ նրան նրա իմ քո մեր ձեր իր իրենց նրանց եմ է ենք "
           "եք են էի էիր էր էինք էիք էին եղել լինել մեջ վրա հետ համար մասին առանց մինչև ըստ պես "
           "նաև ոչ չի չեն չէ էլ երբ որտեղ ինչպես որպես քան հետո տակ միջև"},
    {"lt", "ir ar arba bet o tačiau kad jog jei jeigu kai kol nes nors kaip negu nei ne be su į iš "
           "prie prieš per po pas nuo iki ant už apie tarp dėl pagal pro aš tu jis ji mes jūs jie "
           "jos mane tave jį ją mus jus juos jas man tau jam jai mums jums jiems joms mano tavo "
           "jo jų savo mūsų jūsų save sau šis ši šie šios tas ta tie tos šio to tų šių tai toks "
           "tokia kas ko kam ką kuo kuris kuri kurie kurios kurio kurių kurį kurią kuriam esu esi "
           "yra esame esate buvo bus būti būtų buvau buvome nėra nebuvo jau dar tik taip pat kur "
           "kada kodėl visi visas visa visos kiekvienas kitas kita kiti"},
    {"ne", "र वा तर कि भने पनि नै को का की मा ले लाई बाट देखि सम्म सँग संग द्वारा लागि यो त्यो यी ती यस "
           "त्यस यसको त्यसको यसले उनी ऊ उनको उसको हामी म तिमी तपाईं तपाई मेरो हाम्रो तपाईंको आफ्नो आफू जो "
           "जुन जसले जसको के किन कसरी कहाँ कहिले कुन कसले छ छन् छैन छैनन् थियो थिए थिएन हुन हुन् हो "
           "होइन हुन्छ हुने भएको भएका भई भयो अनि तथा एवं यदि जस्तो जस्तै सबै केही कुनै पछि"},
    {"sr", "i a ali ili ni pa te da li ne nije nisu nisam nismo u na o od do za iz sa s k ka po "
           "pri pred pod nad kroz kod oko zbog radi bez između protiv prema posle pre ja ti on "
           "ona ono mi vi oni one mene me meni tebe tebi njega ga njemu mu nje je njoj joj nas "
           "nam vas vam njih ih njima im sebe se sebi moj moja moje tvoj tvoja tvoje njegov "
           "njegova njegovo njen njena njeno naš naša naše vaš vaša vaše njihov njihova njihovo "
           "svoj svoja svoje svoju ovaj ova ovo ovi ove taj ta to tog tom onaj ko koji koja koje "
           "kojeg kojem kojoj kojim kojih što šta čiji kad kada gde kako zašto jer ako dok sam si "
           "smo ste su bio bila bilo bili bile biti budem bude budu bih bi bismo biste ću ćeš će "
           "ćemo ćete već još samo tako svaki svaka svako svi sve sav neki neka neko "
           "и а али или ни па те да ли не није нису нисам нисмо у на о од до за из са с к ка по "
           "при пред под над кроз код око због ради без између против према после пре ја ти он "
           "она оно ми ви они оне мене ме мени тебе теби њега га њему му ње је њој јој нас нам "
           "вас вам њих их њима им себе се себи мој моја моје твој твоја твоје његов његова "
           "његово њен њена њено наш наша наше ваш ваша ваше њихов њихова њихово свој своја своје "
           "своју овај ова ово ови ове тај та то тог том онај ко који која које којег којем којој "
           "којим којих што шта чији кад када где како зашто јер ако док сам си смо сте су био "
           "била било били биле бити будем буде буду бих би бисмо бисте ћу ћеш ће ћемо ћете већ "
           "још само тако сваки свака свако сви све сав неки нека неко"},
    {"ta", "ஒரு அந்த இந்த எந்த என்று என என்ற என்பது என்ன ஏன் எப்படி எங்கு எப்போது யார் நான் நீ நீங்கள் "
           "அவன் அவள் அவர் அவர்கள் அது அவை இது இவை நாம் நாங்கள் என் எனது உன் உங்கள் அவரது அதன் "
           "இதன் தன் தனது நமது எங்கள் மற்றும் அல்லது ஆனால் எனவே ஆகவே மேலும் கூட தான் மட்டும் உள்ள "
           "உள்ளது உள்ளன இல்லை அல்ல இருந்து இருந்த இருக்கும் இருக்கிறது இருந்தது ஆகும் ஆன ஆக போல "
           "போன்ற பற்றி வரை மூலம் பின்னர் பின் முன் மீது கீழ் மேல் இடையே உடன் வேண்டும் அங்கு இங்கு எல்லா "
           "அனைத்து சில பல"},
    {"tr", "ve veya ya da de ile için ama fakat ancak çünkü ki ne ise eğer gibi kadar göre karşı "
           "sonra önce beri dolayı rağmen üzere ben sen o biz siz onlar beni seni onu bizi sizi "
           "onları bana sana ona bize size onlara bende sende onda benim senin onun bizim sizin "
           "onların bu şu bunlar şunlar bunu şunu bunun şunun buna şuna bunda kendi kendisi hangi "
           "kim kime kimin nasıl neden niçin niye nerede nereye bir her bazı hiç tüm bütün hep mi "
           "mı mu mü değil var yok idi imiş olan olarak oldu olur olacak olmak olduğu en daha çok "
           "pek diye hem"},
    {"yi",
     "די דער דאָס דעם אַ אַן און אָדער אָבער נאָר אויב אַז ווי ווען וואָס וואו ווער וועמען וועלכער איז "
     "זענען זײַנען בין ביסט זײַט געווען האָט האָבן האָב האָסט וועט וועלן וועל ווערן ווערט איך דו ער "
     "זי עס מיר איר זיי מיך דיך אים אונדז אײַך מײַן דײַן זײַן אונדזער אײַער זייער זיך אין אויף פֿון "
     "צו מיט בײַ פֿאַר נאָך אויס איבער אונטער צווישן דורך ביז אָן קעגן נישט ניט אויך שוין דאָ ווײַל"},
};
enum { OWN_LISTS = sizeof own_lists / sizeof *own_lists };

static const char *find_list(const struct stop_word_list *lists, unsigned count,
                             const char *canonical) {
    for (unsigned i = 0; i < count; i++)
        if (strcmp(lists[i].language, canonical) == 0)
            return lists[i].words;
    return NULL;
}

const char *stop_words_of(const char *canonical) {
    const char *found = find_list(snowball_stop_words, snowball_stop_word_count, canonical);
    return found ? found : find_list(own_lists, OWN_LISTS, canonical);
}

size_t stop_words_count(const char *words) {
    size_t count = 0;
    struct bytes_view word;
    while (stop_words_next(&words, &word))
        count++;
    return count;
}

bool stop_words_next(const char **words, struct bytes_view *word) {
    *words += strspn(*words, " ");
    *word = view_of(*words, strcspn(*words, " "));
    *words += word->size;
    return word->size > 0;
}

static uint64_t add_lists(uint64_t hash, const struct stop_word_list *lists, unsigned count) {
    for (unsigned i = 0; i < count; i++)
        hash = hash_pair(hash, hash_bytes(lists[i].words, strlen(lists[i].words)));
    return hash;
}

uint32_t stop_words_hash(void) {
    uint64_t hash = add_lists(0, snowball_stop_words, snowball_stop_word_count);
    return (uint32_t)(add_lists(hash, own_lists, OWN_LISTS) >> 32);
}

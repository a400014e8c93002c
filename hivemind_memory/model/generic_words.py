"""Words that say little in any text: closed classes of the languages people ask in.

Articles, pronouns, prepositions, auxiliaries and question words, and the nouns that
stand in for others (*kind*, *thing*). Those of English that carry nothing at all are
dropped from a query (``terms.QUESTION_WORDS``); these count half. A word that names a
thing in English is left out, whatever it means elsewhere: *die*, *war*, *hat*.
"""

from __future__ import annotations

_ENGLISH = """
after again against all almost already also although always among another any anybody
anyone anything around became because become becomes before behind below besides between
beyond both but cannot certain each either else enough etc even ever every
everyone everything few first further good however instead kind kinds least less like
lot lots many may maybe might more most much must near need neither never new no
none nor not nothing now off often old once one only onto other others otherwise out
over own per perhaps quite rather really recently same several since someone
something sometimes soon sort still thing things though through thus together too toward
towards two type under unless until up upon usually various very via want way ways well
whatever whenever wherever whether within without yes yet
"""
_GERMAN = """
aber als alle auch auf aus bei beim bis da damit dann das dass dem den der des dies
diese dieser dieses doch dort du durch ein eine einem einen einer eines er es für gegen
gibt haben hatte hatten ich ihr ihre ihrer ihren im ist kann kein keine können könnte
konnte mit muss müssen nach nicht noch nur ob oder ohne sein seine seiner seit sich sie
sind so soll sollte sollten über um und uns unter viel viele vom von vor waren wann
warum was welche welchem welchen welcher welches wem wen wenn wer werden wessen wie wir
wird wo wofür woher wohin wurde wurden zu zum zur zwischen
"""
_FRENCH = """
à au aux avec ce ces cet cette comment dans de des depuis dont du elle elles en entre et
été être eu il ils je la le les leur leurs lors lui mais ne nous ou où pas pendant
pourquoi quand que quel quelle quelles quels qui quoi sa se ses sont sous sur un une
vers vous était étaient
"""
_SPANISH = """
al ante como cómo con cual cuál cuáles cuando cuándo cuanto cuánto cuántos cuántas de
del desde donde dónde durante el él ella ellos en entre eran es esta está este esto
estos estas están fue fueron ha había han hasta la las le les lo los más muy ni para
pero por porque que qué quién quiénes se según si sí sobre sus también tiene tienen un
una uno unos unas ya yo
"""
_ITALIAN = """
agli al alla alle anche che chi cosa da dai dal dalla dalle degli dei del della delle è
erano gli ha hanno il in la le lo loro ma nei nel nella nelle non nostro ogni per perché
più quale quali quando quanto quanti quante questa questo sono sua sue sui sul sulla suo
suoi tra un una uno
"""
_PORTUGUESE = """
ao aos as à às como da das de do é ela ele eles entre eram essa esse esta está este eu
foi foram há isso já mais mas na nas não no nos onde ou para pela pelas pelo pelos por
porque qual quais quando quanto quantos quem que se sem seu sua seus suas são também tem
têm um uma
"""
_DUTCH = """
aan al als bij daar dat de deze dit een en er geen had heb hebben heeft het hij hoe
hoeveel ik je kan kunnen maar mijn moet na naar niet nog nu of om onder ook over te tot
uit veel voor waar waarom wanneer waren was wat we welk welke werd werden wie wij wordt
worden zal ze zich zij zijn zo zou
"""
_SWEDISH = """
att av blev den det där efter eller en ett från för ha hade han har hon hur hos inte jag
kan med mellan mot många något när och om på sedan sig skall som till under upp ut vad
vara varför vem vid vilka vilken vilket är över
"""
_POLISH = """
był była było były być co czy dla do gdzie gdy go ich ile ja jak jaka jaki jakie jako
jakim jakiej jego jej już kiedy kto która które którego którym który których lub ma mają
może na nad nie niż od oraz po pod przed przez przy się są ta tak także tam te tego tej
to tym we za ze że został została zostały
"""
_RUSSIAN = """
без более бы был была были было быть в вам вас ведь во вот все всё вы где да даже для до
его ее её если есть еще ещё же за зачем и из или им имеет их к каждый как какая какие
каким каких какого какое какой каком какую когда кого кому которая которого которое
которой которую которые который которых кто куда ли между меня мне можно мы на над надо
наш не него нее неё нет ни них но о об один однако он она они оно от откуда очень по под
после почему при про с сам свой свои своих себя сколько со так также такой там то того
тоже той только том тот ту ты у уже чего чей чем через что чтобы эта эти этих это этого
этой этом этот я является являются
"""
_TURKISH = """
ama bir bu da daha de değil diye en gibi göre hangi hangisi hem her için ile ise kadar
kaç ki kimdir kimin mi mı mu mü nasıl ne neden nedir nerede niçin olan olarak oldu
olduğu olur sonra şu tarafından ve veya ya yok zaman
"""
_GREEK = """
από αν αυτά αυτή αυτό αυτοί για δεν είναι εκεί ένα ένας είχαν είχε ή η ήταν θα και κατά
με μετά μια να ο οι όταν ότι ποια ποιες ποιο ποιοι ποιος ποιον πόσα πόσες πόσοι πότε που
πού πριν προς πως πώς σε στη στην στις στο στον στους τα τη την της τι τις το του τους
των τον υπάρχουν
"""
_ARABIC = """
إلى أن أو أي أين التي الذي الذين إن بعد بين تم ثم حتى حول حيث ذلك عن على عند عندما في
قبل قد كان كانت كم كيف لا لكن لم لماذا ما ماذا متى مع من منذ هذا هذه هل هم هو هي و
"""
_HINDI = """
इस इसके एक और कब कर करता करते करने कहाँ कहां का कि कितना कितनी कितने किन किस किसका किसके
किसकी किसने की कुछ के को कौन कौनसा क्या क्यों गया गई गए जब जा जाता जैसे जो तक तो था थी
थे द्वारा ने पर भी में यह या ये रहा लिए वह वाले वे से ही हुआ हुई हुए है हैं हो होता होती
होते
"""
_VIETNAMESE = """
bởi các cái cho có của cùng đã đang đâu để đến đó được gì là khi không lại mà mấy một
nào này như những nơi ở ra rằng sao sẽ tại thế thì trên trong từ và vào về vì với
"""
_CHINESE = """
的 了 在 是 我 有 和 就 不 都 也 很 到 要 去 你 会 着 自 己 这 那
吗 呢 吧 啊 么 什 怎 哪 谁 何 几 多 少 为 以 可 应 该 请 问 被 把
对 与 及 其 将 者 所 之 于 而 并 从 向 给 让 使 如 果 因 虽 但 等
些 样 后 前 内 他 她 它 们 什么 怎么 怎样 如何 哪些 哪个 哪里 哪种 哪一
多少 为什 为何 可以 应该 应当 是否 能否 能不 不能 是不 需要 请问 我们 他们
她们 你们 自己 一个 这个 那个 这种 这些 那些 没有 就是 如果 因为 所以 么办
么样 有什 有哪 是什 是多 何时 时候 是谁 谁的 几个 了吗 的吗 了什 在哪
"""

_ALL = " ".join(
    (
        *(_ENGLISH, _GERMAN, _FRENCH, _SPANISH, _ITALIAN, _PORTUGUESE, _DUTCH),
        *(_SWEDISH, _POLISH, _RUSSIAN, _TURKISH, _GREEK, _ARABIC, _HINDI),
        *(_VIETNAMESE, _CHINESE),
    )
)
GENERIC_WORDS = frozenset(_ALL.split())
"""All of them, in lower case, as they are written; single characters and pairs for
Chinese, which is looked up by them."""


def is_generic(word: str) -> bool:
    """Return whether a term of a query says little: half of its weight counts.

    So does what is written in hiragana: the endings and particles of Japanese.

    >>> is_generic("während"), is_generic("который"), is_generic("です")
    (False, True, True)
    """
    if word in GENERIC_WORDS:
        return True
    return not word.isascii() and all("\u3040" <= kana <= "\u309f" for kana in word)

"""What the tokenizer knows of languages: function words, telling letters, negations. Own lists, kept small.

Latin words are written without diacritics: the tokenizer folds before it asks. A word that carries meaning in
another of these languages (`ten`, `pro`, `die`, `war`, `la`, `may`, `will`) is left out: it counts as any word.
"""

FUNCTION_WORDS: frozenset[str] = frozenset(
    # English
    """
    a an the and or but if of at by for with about to from in into on as is am are was were be been being have has
    had having do does did doing would should could can i me my you your yours he him his she her hers it its we us
    our ours they them their theirs this that these those what which who whom whose when where why how there here
    so than then too very just also some any ca wo
    """  # Czech and Slovak
    """
    k s u v z ke ve se si na od po pri za ze aby ale nebo jako jak co kdo kde kdy ktery ktera ktere kteri kterou
    ktereho je jsem jsi jsme jste jsou byl byla bylo byli bude budu budou ta ti tento tato toto tyto teto tohoto
    tim tech tom toho tomu jeho jeji jejich nas vas nam vam mi mne mu ho ji jim jich ona ono oni ja vy bych bys byste
    uz take taky nez tak tam tady zde coz proc jaky jaka jake jakou svuj sve sva svou svych ma mam maji mas mame aj som sa ako pre ktory
    """  # Polish
    """
    w we dla przy lub kto gdzie kiedy ktore jest sa jestem bylo tego tej tym wy mnie jej ich im sie juz tez
    """  # German, Dutch
    """
    der das dem des ein eine einen einem einer eines und oder aber ist sind waren habe wird werden ich du sie es wir
    ihr mich dich sich mir dir ihm ihnen mein meine dein deine sein seine auf von zu zum zur fur bei nach aus uber wie
    wer wenn wann warum als auch im dass het een van voor aan naar wat wie waar hoe dat deze ook
    """  # French, Spanish, Italian, Portuguese
    """
    le du et ou est sont je tu il elle nous vous ils elles cet cette ces mes tes ses notre votre leur leurs qui que
    quoi quand pourquoi dans avec chez aux el una unos unas del es eres fue yo usted nosotros ellos ellas lo su
    sus esta estos quien cual donde cuando por para con il gli uno della dei sono io lui lei noi voi loro questo
    questa che chi quale dove perche nella uma os dos das eu ele ela meu minha isso quem qual onde ao
    """  # Russian, Ukrainian
    """
    и в во на я он она оно они мы вы ты с со как а то так его ее но за бы по мне меня мной тебе тебя от из ему ней
    нем них нам нас вам вас ли если уже или быть был была было были для что кто где чем при это этот эта эти этого
    этой этом том того тому той мой моя мое мои твой свой своя свое свои своего своей наш ваш их им к ко у же об про
    под над который которая которое которые которого которой есть будет какой какая какое какие какую чтобы зачем
    почему когда о до еще й та те і що як це є
    """.split()
)

LETTERS: dict[str, str] = {
    letter: language
    for language, letters in {
        "polish": "ąęłżźśćń",
        "german": "äöüß",
        "spanish": "ñ",
        "portuguese": "ãõ",
        "french": "çêèàâîôûœëï",
        "hungarian": "őű",
        "danish": "æø",
        "swedish": "å",
        "romanian": "ășțşţ",
        "turkish": "ğı",
    }.items()
    for letter in letters
}
"""Letters that tell a word's language. All others (the acute accents that many share, too) are read as Czech."""

NEGATIONS: frozenset[str] = frozenset(
    """
    not no never none nor without ne neni nikdy zadny zadna zadne bez nejsem nejsou nema nemam nemaji nebyl nebyla nebude nesmi nic nikdo
    не нет никогда нельзя без ничего никто nicht kein keine nie niemals jamais pas nunca jamas non mai nao niet geen
    """.split()
)
"""Words that negate, as written (plain letters); the tokenizer stems them as it stems texts."""

NEGATIVE_PREFIXES: tuple[str, ...] = ("ne", "не")
"""Czech and some Russian words are negated by these."""

"""Texts in any number, the same on every machine: sentences in English, Czech and Russian.

Words come as often as in real language (the n-th most frequent one n times as rarely as the first), so that the
lists of an inverted index have realistic lengths: some very long, most very short.
"""

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

_FREQUENT = {
    "en": """the a to and of in is that for with on was at by from this they we have about market train garden
        winter meeting doctor window kitchen letter mountain river teacher holiday violin budget server deadline
        customer invoice password breakfast bicycle neighbour daughter brother allergy medicine concert museum
        library ticket airport battery keyboard contract lawyer recipe potato mushroom forest puppy kitten painting
        marathon swimming chess guitar novel poem lecture exam diploma interview salary project release backup
        database cluster storm summer autumn spring birthday wedding anniversary grandmother cousin apartment rent
        mortgage plumber roof cellar bakery coffee honey garlic ginger prefers decided moved bought forgot promised
        learned visited repaired painted cancelled planned wrote called cooked missed found lost opened closed""",
    "cs": """a v na se je že do pro s od po za byl jsem jsme mají trh vlak zahrada zima schůzka lékař okno kuchyně
        dopis hora řeka učitel prázdniny housle rozpočet server termín zákazník faktura heslo snídaně kolo soused
        dcera bratr alergie lék koncert muzeum knihovna jízdenka letiště baterie klávesnice smlouva právník recept
        brambory houby strom štěně kotě obraz maraton plavání šachy kytara román báseň přednáška zkouška diplom
        pohovor plat projekt vydání záloha databáze bouřka léto podzim jaro narozeniny svatba výročí babička
        bratranec domek nájem hypotéka instalatér střecha sklep pekárna káva med česnek zázvor dává rozhodl koupil
        zapomněl slíbil naučil navštívil opravil maloval zrušil plánuje napsal volal uvařil našel ztratil""",
    "ru": """и в на с что по из за был мы они есть рынок поезд сад зима встреча врач окно кухня письмо гора река
        учитель отпуск скрипка бюджет сервер срок клиент счёт пароль завтрак велосипед сосед дочь брат аллергия
        лекарство концерт музей библиотека билет аэропорт батарея клавиатура договор юрист рецепт картофель грибы
        лес щенок котёнок картина марафон плавание шахматы гитара роман стихи лекция экзамен диплом собеседование
        зарплата проект выпуск копия база гроза лето осень весна рождение свадьба годовщина бабушка кузен квартира
        аренда ипотека сантехник крыша подвал пекарня кофе мёд чеснок имбирь любит решил купил забыл обещал выучил
        посетил починил красил отменил планирует написал звонил сварил нашёл потерял открыл закрыл""",
}
_SYLLABLES = {
    "en": "ba ker lin ton mer ster dal wick ford ham ley bri cor dun fal gar hol ken mar nor per ros sal tor win".split(),
    "cs": "bo ků dra hra jez kol lab mor nov os pra rad sed třeb úst vel zbra žel čer dub hor kam lip mel pod".split(),
    "ru": "бо вер гор дан зел кам лов мир нов оль пет рос сол тув ков ник лин чер шум бар дуб лес пол реч яр".split(),
}
_RARE = 25 * 25 * 8
_SHARES = {"en": 6, "cs": 2, "ru": 2}
AUTHORS = ("Anna", "Boris", "Clara", "David", "Eva", "Filip", "Greta", "Honza", "Irina", "Jakub")
FUNCTION_WORDS = 25
"""The most frequent words are such."""
TURNS = 40
"""Of one conversation."""


@dataclass(frozen=True)
class _Language:
    frequent: Sequence[str]
    syllables: Sequence[str]

    @property
    def size(self) -> int:
        return len(self.frequent) + _RARE

    def word(self, rank: int) -> str:
        """The word of this rank; beyond the real ones it is put together from syllables."""
        if rank < len(self.frequent):
            return self.frequent[rank]
        rest, parts = rank - len(self.frequent), []
        for _ in range(3):
            rest, place = divmod(rest, len(self.syllables))
            parts.append(self.syllables[place])
        return "".join(parts)


_LANGUAGES = {name: _Language(words.split(), _SYLLABLES[name]) for name, words in _FREQUENT.items()}


class Corpus:
    """An endless source of texts; the same seed gives the same ones. `plain`: memories that come from no
    conversation, so that nothing was said before them."""

    def __init__(self, seed: int = 1, *, plain: bool = False) -> None:
        self._chance = random.Random(seed)
        self.plain = plain

    def text(self) -> str:
        """One sentence of 6 to 24 words, in one language."""
        language = self._language()
        count = self._chance.randint(6, 24)
        words = [language.word(self._rank(language.size)) for _ in range(count)]
        return f"{' '.join(words).capitalize()}."

    def query(self) -> str:
        """A question of 3 to 8 words, another one each time; the last word is no function word."""
        language = self._language()
        count = self._chance.randint(2, 7)
        words = [language.word(self._rank(language.size)) for _ in range(count)]
        words.append(language.word(FUNCTION_WORDS + self._rank(language.size - FUNCTION_WORDS)))
        return f"{' '.join(words).capitalize()}?"

    def drafts(self, count: int, *, start: int = 0) -> Iterator[dict[str, Any]]:
        """`count` memories as HTTP takes them, from place `start` on: turns of conversations of TURNS turns."""
        for place in range(start, start + count):
            if self.plain:
                yield {"text": self.text(), "importance": self._chance.randint(1, 10)}
                continue
            conversation, position = divmod(place, TURNS)
            yield {
                "text": self.text(),
                "importance": self._chance.randint(1, 10),
                "source": {
                    "conversation": f"conversation-{conversation}",
                    "position": position,
                    "author": self._chance.choice(AUTHORS),
                    "said_at": f"2026-{conversation % 12 + 1:02}-{conversation % 28 + 1:02}T12:00:00Z",
                },
            }

    def _language(self) -> _Language:
        return _LANGUAGES[self._chance.choices(tuple(_SHARES), tuple(_SHARES.values()))[0]]

    def _rank(self, size: int) -> int:
        """0 most often, then as Zipf says."""
        return int(math.exp(self._chance.random() * math.log(size + 1))) - 1

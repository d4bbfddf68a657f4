"""Short messages of two kinds, written by rule: what a spam filter is tried on here."""

import random

WANTED = [
    "are you coming {when} or shall i call you {when2}?",
    "ok {name}, see you {when} at {place} then :)",
    "sorry {name} i'll be late, stuck at {place}",
    "can you bring {thing} when you come to {place}?",
    "happy birthday {name}!! hope you have a great day",
    "i'm at {place} now, where r u",
    "thanks for {thing} {name}, it was lovely",
    "did you get my message about {thing}? call me {when}",
    "no need to pay me back, you won the bet ;)",
    "free {when}? we could go to {place}",
]
UNWANTED = [
    "URGENT! You have won a {prize} prize. Call {phone} now to claim",
    "FREE entry in our weekly draw for {prize}! Txt WIN to {short}",
    "Congratulations! Your mobile was selected for {prize}. Reply YES to {short}",
    "You have 1 new voicemail. Please call {phone}",
    "Get {thing} at half price today only. Visit www.{site}.example or call {phone}",
    "Your account statement for {phone} shows unredeemed points. Call {phone2}",
    "Hot singles near you! txt CHAT to {short}. 18+ only, {prize} per msg",
    "Claim your {prize} cash now, call {phone} before {when}",
]
WORDS = {
    "when": ["tonight", "tomorrow", "at 7", "on monday", "after work", "later"],
    "name": ["anna", "ben", "mum", "dear", "sam", "Ella"],
    "place": ["the station", "home", "school", "Mario's", "the cinema", "work"],
    "thing": ["the tickets", "dinner", "your book", "a phone", "the keys", "ringtones"],
    "prize": ["£1000", "$500", "2,000 pounds", "a holiday in Spain", "an iPod"],
    "site": ["getcash", "prize4u", "ringtone-king"],
}


def _fill(pattern: str, rng: random.Random) -> str:
    values = {key: rng.choice(choices) for key, choices in WORDS.items()}
    values |= {"when2": rng.choice(WORDS["when"]), "short": str(rng.randrange(60000, 90000))}
    values |= {key: f"09{rng.randrange(10**8, 10**9)}" for key in ("phone", "phone2")}
    return pattern.format(**values)


def messages(n: int, seed: int = 0, spam: float = 0.15) -> list[tuple[str, str]]:
    """Return labels and texts; a few say what the other kind would, so that no learner is right on all."""
    rng = random.Random(seed)
    found = []
    for _ in range(n):
        label = "spam" if rng.random() < spam else "ham"
        unwanted = (label == "spam") != (rng.random() < 0.004)
        found.append((label, _fill(rng.choice(UNWANTED if unwanted else WANTED), rng)))
    return found


def write_tsv(path, rows) -> None:
    """Write label, tab, text: no header, no quotes, as such collections come."""
    path.write_text("".join(f"{label}\t{text}\n" for label, text in rows), encoding="utf-8")

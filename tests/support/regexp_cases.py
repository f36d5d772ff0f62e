"""Writes regular expressions for `matches` of CEL, each tried on many texts.

    python tests/support/regexp_cases.py COUNT SEED FILE

writes a golden file without results, which tests/support/cel_oracle fills in. Left out are scripts
such as `Greek`, which are refused.
"""

import json
import random
import sys
from pathlib import Path

TEXTS = (
    "", "a", "A", "b", "ab", "aB", "ba", "abc", "aabb", "a\n", "a\nb", "\na", "a b", "a\tb", "a\x0bb",
    "0", "a1", "_", "a_1", "a-b", "a.b", "[a]", "{2}", "a{2}", "a{,2}", "é", "É", "ß", "\u017f", "K", "k",
    "σς", "Σ", "中文", "٣", "😀", "a\\b", "^a$", "aaaaaaaaaa", "web-0", "web-17", "10.0.0.1", "kube-system",
)  # fmt: skip
WRITTEN = (
    "^a$", r"^a\z", r"\Aa\z", "a$", "(?m)a$", "(?m)^b", "a.b", "(?s)a.b", "(?i)ab", "a(?i)b", "a(?i)b|B",
    "(?i:a)b", "(?i)k", "(?i)s", "(?i)\u03c3", "(?i)[k-l]", "(?i)É", "(?-i)a", "(?i)a(?-i)b", "(?U)a+", "(?U)a+?b",
    "a+?", "a??", "a{2}", "a{2,}", "a{2,3}?", "a{,2}", "a{", "{2}", "a{1001}", "(a{100}){11}",
    "((a{10}){10}){10}", "a{01}", "a{3,2}", "a**", "a*+", "a++", "a?+", "a{2}{3}", "a{2}*", "(?:a*)*", "^*", "$+",
    r"\b*", "*a", "+", "?", "a|*", "(*)", "(?i)*", "|", "a|", "()", "(", ")", "a)", "(?", "(?:", "(?i", "(?z)a",
    "(?P<n>a)", "(?<n>a)", "(?P<n>a)(?P<n>b)", "(?P<1>a)", "(?P<>a)", "(?P=n)", "(?=a)", "(?!a)", "(?<=a)b",
    "(?<!a)b", "(?>a)", "(?#a)", "(?(1)a)", r"(a)\1", r"\0", r"\00", r"\101", r"\18", r"\8", r"\x41", r"\x4",
    r"\x{1F600}", r"\x{110000}", r"\x{}", r"\a", r"\f", r"\n", r"\r", r"\t", r"\v", r"\e", r"\c", r"\G", r"\Z",
    r"\z", r"\C", r"\X", r"\R", r"\h", r"\K", r"\N", r"\u0041", r"\U00000041", r"\_", r"\-", r"\ ", r"\é", "\\",
    r"\d", r"\D", r"\w+$", r"\W", r"\s", r"\S+", r"a\sb", r"\bb", r"\B", r"a\B", r"\bé", r"^\B$", r"\Qa.b\E",
    r"\Qa.b", r"\Qab\E+$", r"\Q\E", r"\E", r"\pL", r"\PL", r"\pLu", r"\p{Lu}", r"\P{Lu}", r"\p{^Lu}", r"\P{^Lu}",
    r"\pN", r"\p{Nd}", r"\pZ", r"\pS", r"\p{So}", r"\p", r"\p{", r"\p{L", r"\p{Foo}", r"\p{Any}", r"(?i)\p{Lu}",
    "[a-c]", "[^a-c]", "[]a]", "[^]a]", "[]", "[", "[a", "[a-]", "[-a]", "[a-b-c]", "[c-a]", r"[a-\d]", r"[\d-a]",
    r"[\w.]", r"[^\w]", r"[\W\d]", r"[^\D]", r"[\pL]", r"[^\PL]", r"[\]]", r"[\\]", "[[]", "[[a]]", "[a&&b]", "[a||b]",
    "[a--b]", "[a~~b]", "[[:alpha:]]", "[[:^alpha:]]", "[^[:alpha:]]", "[[:alnum:]_]", "[[:ascii:]]",
    "[[:blank:]]", "[[:cntrl:]]", "[[:digit:]]+$", "[[:graph:]]", "[[:lower:]]", "[[:print:]]", "[[:punct:]]",
    "[[:space:]]", "[[:upper:]]", "[[:word:]]+$", "[[:xdigit:]]", "[[:foo:]]", "[:alpha:]", "[[:alpha]",
    "(?i)[[:upper:]]", "(?i)[^a]", r"[\x41-\x43]", r"[\b]", r"[\Q]", r"[^\x00-\x{10FFFF}]", r"[\n]", "[^\n]", "[^a]b",
    r"^web-\d+$", r"^\d+(\.\d+){3}$", "^kube-", "(^|-)system$", "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "(?sm)^.$",
    "(?ms:^a$.)b", "(a|b)*c", "(a|ab)(c|bcd)?", "x*", "é", "(?i)é", "[à-ü]", ".", "^.$", "^..$", "(?s)^.{3}$",
)  # fmt: skip
_PARTS = (
    "a", "b", "A", "é", ".", "^", "$", r"\d", r"\w", r"\s", r"\W", r"\b", r"\B", r"\pL", r"\z", "[ab]", "[^a]",
    "[[:alpha:]]", r"[\d_]", "-", "_", r"\.", r"\Qa.\E", "(?i)", "(?s)", "(?m)", "(?U)",
)  # fmt: skip
_REPEATS = ("", "", "", "", "*", "+", "?", "*?", "+?", "{2}", "{1,2}")


def written(chance: random.Random, depth: int = 0) -> str:
    """Return a random expression."""
    text = ""
    for _ in range(chance.randint(1, 4)):
        part = chance.choice(_PARTS)
        if depth < 2 and chance.random() < 0.3:
            opening = chance.choice(("(", "(?:", "(?i:", "(?s-i:", "(?P<x>"))
            part = f"{opening}{written(chance, depth + 1)})"
        text += part + chance.choice(_REPEATS)
    return f"{text}|{written(chance, depth + 1)}" if depth < 2 and chance.random() < 0.2 else text


def cases(count: int, seed: int) -> list[dict[str, str]]:
    """Return as many expressions, those that are written out first."""
    chance = random.Random(seed)
    found = dict.fromkeys(WRITTEN)
    while len(found) < count:
        found[written(chance)] = None
    return [
        {"kind": "Texts", "text": f"self.texts.filter(t, t.matches({_quoted(each)}))"}
        for each in found
    ]


def _quoted(pattern: str) -> str:
    return json.dumps(pattern, ensure_ascii=False)


def main(count: int, seed: int, path: Path) -> None:
    """Write the file."""
    about = "Regular expressions: written by tests/support/regexp_cases.py, answered by cel_oracle."
    objects = {"Texts": {"apiVersion": "v1", "kind": "Texts", "texts": TEXTS}}
    golden = {"about": about, "objects": objects, "cases": cases(count, seed)}
    path.write_text(json.dumps(golden, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))

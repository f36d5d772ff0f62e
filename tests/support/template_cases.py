"""Writes random Go templates: functions over kinds of arguments, in every control structure.

    python tests/support/template_cases.py COUNT SEED FILE

writes a golden file without results, which tests/support/gotemplate_oracle fills in. The same count
and seed give the same templates. Left out is what is different each time it runs (chance, the order
of a map's keys) and what is deliberately different; the list of that is in docs/reference/stages.md.
"""

import json
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

DATA: dict[str, Any] = {
    "s": "text",
    "e": "",
    "u": "grüße €",
    "q": 'it\'s "q" <b>&\n\ttab',
    "port": "443",
    "yes": "yes",
    "ts": "2026-01-02T03:04:05Z",
    "n": 443,
    "one": 1,
    "zero": 0,
    "neg": -7,
    "f": 3.5,
    "whole": 2.0,
    "tiny": 1.5e-07,
    "huge": 1.5e22,
    "million": 2500000.0,
    "big": 123456789012,
    "t": True,
    "no": False,
    "list": ["a", "b", "c"],
    "nums": [3, 0, 2.5],
    "mixed": ["x", 1, True, "", 0, ["y"]],
    "empty": [],
    "map": {"b": 2, "a": "one", "z": {"k": "deep", "n": 0}},
    "ints": {"x": 0, "y": 10},
    "void": {},
    "objs": [{"type": "Ready", "status": "True", "n": 1}, {"type": "Disk", "n": 0}],
    "metadata": {"name": "pod-1", "labels": {"app": "web", "x/y": "z"}, "generation": 4},
    "spec": {"replicas": 0, "ports": [{"port": 80}, {"port": 443}], "nodeName": "node-7"},
}
"""The object of every case: each kind of value, and each kind of number."""

FIELDS = {
    "s": (".s", ".e", ".u", ".q", ".port", ".yes", ".ts", ".metadata.name", ".map.a", "$.s"),
    "n": (".n", ".one", ".zero", ".neg", ".f", ".whole", ".tiny", ".huge", ".big", ".million",
          ".spec.replicas", ".metadata.generation", "$.zero", ".ints.x"),
    "b": (".t", ".no"),
    "l": (".list", ".nums", ".empty", ".mixed", ".objs", ".spec.ports"),
    "m": (".map", ".void", ".metadata.labels", ".spec", ".ints", ".map.z"),
    "x": (".missing", ".metadata.missing", ".missing.deeper"),
}  # fmt: skip
LITERALS = {
    "s": ('"text"', '""', '"a b"', "`raw`", '"443"', '"%v-%v"', '"TexT case_here"', '"10"', '"3.5"',
          '"0x10"', '"2.0"', '"a,b,,c"', '"true"', '"é€"', '"a\\nb"'),
    "i": ("0", "1", "2", "-3", "443", "0x1f", "'a'", "1_000", "010"),
    "f": ("1.5", "2.0", "1e3", "-0.25", "1e7", "1e21"),
    "b": ("true", "false"),
    "t": ("now", '(toDate "2006-01-02" "2024-02-29")', '(dateModify "-25h" now)'),
}  # fmt: skip
# What a function takes and gives: s text, i int, j int64, f float, n number of the object, b boolean,
# l list, m map, t time, x nothing, a any of them, r a regular expression. A star repeats the last.
FUNCTIONS = """
upper s s; lower s s; title s s; untitle s s; trim s s; swapcase s s; initials s s
snakecase s s; camelcase s s; kebabcase s s; trimAll ss s; trimPrefix ss s; trimSuffix ss s
contains ss b; hasPrefix ss b; hasSuffix ss b; replace sss s; trunc is s; abbrev is s; abbrevboth iis s
substr iis s; repeat is s; indent is s; nindent is s; plural ssi s; wrap is s; wrapWith iss s
quote a* s; squote a* s; cat a* s; toString a s; print a* s; println a* s; printf Fa* s; html a* s
js a* s; urlquery a* s; Quote a s; toJson a s; toPrettyJson a s; toRawJson a s; sha256sum s s
adler32sum s s; b64enc s s; b64dec s s; b32enc s s; base s s; dir s s; ext s s; clean s s; isAbs s b
osBase s s; fromJson J a; atoi s i; int a i; int64 a j; float64 a f; toDecimal a j; len a i
add a* j; add1 a j; sub aa j; mul aa* j; div aa j; mod aa j; max aa* j; min aa* j; biggest aa j
addf a* f; add1f a f; subf aa f; mulf aa f; divf aa f; maxf aa f; minf aa f; ceil a f; floor a f
round aN f; until i l; untilStep iii l; seq ii s; default aa a; empty a b; coalesce a* a; all a* b
any a* b; ternary aab a; typeOf a s; kindOf a s; kindIs Ka b; typeIs Ta b; deepEqual aa b
eq aa b; eq aaa b; ne aa b; lt aa b; le aa b; gt aa b; ge aa b; not a b; and aa a; or aa a; and aaa a
or aaa a; index lN a; index ms a; index sN a; index la a; slice lii l; slice li l
list a* l; append la l; prepend la l; first l a; last l a; rest l l; initial l l; reverse l l; uniq l l
without la* l; has al b; compact l l; concat ll l; chunk il l; join sl s; join sa s; sortAlpha l l
toStrings a l; splitList ss l; split ss m; splitn sis m; dict sa m; dict sasa m; get ms a; hasKey ms b
pick mss m; omit mss m; pluck sm l; dig ssam a; merge mM m; mergeOverwrite mM m; set msO m; unset ms m
deepCopy a a; regexMatch rs b; regexFind rs s; regexFindAll rsi l; regexReplaceAll rss s
regexSplit rsi l; regexReplaceAllLiteral rss s; regexQuoteMeta s s; date Dt s; dateInZone Dts s
dateModify Us t; htmlDate t s; unixEpoch t s; duration a s; durationRound a s; toDate Ds t
urlParse s m; YAML a y; YAML ai y; Name - s; Index - i; ternary ssb s; default ns a; default na a
mustRegexMatch rs b; mustToJson a s; mustFirst l a; mustHas al b; sha1sum s s
"""
METHODS = {
    "t": ('.Format "2006-01-02 15:04:05.000 Mon Jan"', ".Year", ".Month", ".Day", ".Hour", ".Unix",
          ".UnixNano", ".UnixMilli", ".Weekday", ".YearDay", ".UTC", ".IsZero", ".AddDate 0 1 -1",
          ".Minute", ".Second", ".Nanosecond", ".String", ".Location", ".Add 1000000000"),
    "n": (".String", ".Int64", ".Float64"),
}  # fmt: skip
SPECIAL = {
    "F": ('"%s"', '"%d"', '"%v"', '"%q"', '"%5d|"', '"%-6s|"', '"%05d"', '"%.2f"', '"%t"', '"%x"',
          '"%T"', '"%v %v"', '"%s-%d"', '"%+v"', '"%#v"', '"%e"', '"%g"', '"%6.2f|"', '"%c"', '"%U"',
          '"%%"', '"%b"', '"%o"', '"%08.3f"', '"%+d"', '"%X"', '"%5t"', '"%[2]v %[1]v"', '"%*d"',
          '"%p"', '"%!"', '"%z"', '"no verbs"', '"%.1s"', '"% d"', '"% x"'),
    "N": ("0", "1", "2"),
    "M": ('(dict "a" 0 "z" (dict "k" "other" "m" 3))', "(dict)", '(dict "b" "" "x" (list 1))'),
    "O": ("1", '"new"', ".n", ".s", "true"),  # no map: one that holds itself ends the oracle
    "K": ('"string"', '"int"', '"slice"', '"map"', '"float64"', '"bool"', '"invalid"', '"int64"'),
    "T": ('"string"', '"int"', '"json.Number"', '"[]interface {}"', '"[]string"', '"int64"'),
    "J": ('"{\\"a\\":1,\\"b\\":[1.5,null]}"', '"[1,\\"x\\"]"', '"3"', '"{"', '"null"', "(toJson .map)"),
    "r": ('"[a-c]+"', '"(t)(e)"', '"^$"', '"x*"', '"("', '"[0-9]+"', '"(?i)T"', '"\\\\s"'),
    "D": ('"2006-01-02"', '"Jan _2 15:04:05.000"', '"Mon, 02 Jan 06 03:04PM"', '"2006-01-02T15:04:05Z07:00"'),
    "U": ('"1h"', '"-90m"', '"36h30m5.5s"', '"nonsense"'),
}  # fmt: skip
_SIGNATURES: list[tuple[str, str, str]] = [
    (name, takes, gives)
    for name, takes, gives in (
        one.split() for one in FUNCTIONS.replace("\n", ";").split(";") if one.strip()
    )
]


class Writer:
    """Writes one template."""

    def __init__(self, chance: random.Random) -> None:
        """Choose by `chance`."""
        self._chance = chance
        self._variables: list[tuple[str, str]] = []
        self._loops = 0
        self._in_define = False

    def template(self) -> str:
        """Return a template of a few pieces, some of which look like an object's fields."""
        chance = self._chance
        lead = chance.choice(("", "", "", "", " \n", "\t"))
        pieces = [self._piece(0) for _ in range(chance.choice((1, 1, 1, 2, 3)))]
        if chance.random() < 0.5:
            pieces = [f"k{n}: {piece}\n" for n, piece in enumerate(pieces)]
        text = lead + chance.choice(("", "", " ")).join(pieces)
        if chance.random() < 0.07:
            text = f'{{{{ define "d" }}}}<{self._defined()}>{{{{ end }}}}{text}{self._call()}'
        return text

    def _call(self) -> str:
        return f'{{{{ template "d" {self._operand(self._any(), 1)} }}}}'

    def _defined(self) -> str:
        return self._chance.choice(("{{ . }}", "{{ with . }}{{ . }}{{ else }}none{{ end }}", "{{ typeOf . }}",
                                    "{{ if . }}yes{{ end }}", "{{ . | toJson }}"))  # fmt: skip

    def _piece(self, depth: int) -> str:
        chance = self._chance
        choices: list[Callable[[int], str]] = [self._action] * 6
        if depth < 3:
            choices += [self._if, self._with, self._range, self._range, self._variable, self._if]
        return chance.choice(choices)(depth)

    def _action(self, depth: int) -> str:
        kind = "y" if self._chance.random() < 0.05 else self._any()
        left, right = self._chance.choice(
            (("{{ ", " }}"),) * 8 + (("{{- ", " }}"), ("{{ ", " -}}"))
        )
        return f"{left}{self._pipeline(kind, depth)}{right}"

    def _body(self, depth: int) -> str:
        kept = len(self._variables)
        body = self._chance.choice(("", "x", " ", "\n")) + self._piece(depth + 1)
        del self._variables[kept:]
        return body

    def _if(self, depth: int) -> str:
        written = f"{{{{ if {self._pipeline(self._any(), depth)} }}}}{self._body(depth)}"
        if self._chance.random() < 0.2:
            written += f"{{{{ else if {self._pipeline(self._any(), depth)} }}}}{self._body(depth)}"
        if self._chance.random() < 0.6:
            written += f"{{{{ else }}}}{self._body(depth)}"
        return f"{written}{{{{ end }}}}"

    def _with(self, depth: int) -> str:
        kept = len(self._variables)
        declared = ""
        kind = self._any()
        pipeline = self._pipeline(kind, depth)
        if self._chance.random() < 0.3:
            declared = self._declare(kind)
        inner = self._chance.choice(
            ("{{ . }}", "{{ typeOf . }}", "{{ len . }}", "{{ $.n }}", "{{ . | toJson }}")
        )
        written = f"{{{{ with {declared}{pipeline} }}}}{inner}"
        del self._variables[kept:]
        otherwise = self._chance.choice(
            ("", "{{ else }}none", f"{{{{ else }}}}{self._body(depth)}")
        )
        return f"{written}{otherwise}{{{{ end }}}}"

    def _range(self, depth: int) -> str:
        chance = self._chance
        kind = chance.choice("lllmmmina")
        pipeline = self._pipeline(kind, depth)
        kept = len(self._variables)
        names = chance.choice(("", "", "one", "two"))
        declared = ""
        inner = [
            "{{ . }},",
            "{{ typeOf . }} ",
            '{{ printf "%v" . }};',
            "{{ if . }}y{{ else }}n{{ end }}",
        ]
        if names == "one":
            declared = self._declare("a")
        elif names == "two":
            first, second = self._declare("a")[:-4], self._declare("a")
            declared = f"{first}, {second}"
            key, value = self._variables[-2][0], self._variables[-1][0]
            inner += [f"{{{{ {key} }}}}={{{{ {value} }}}};", f"{{{{ typeOf {key} }}}} "]
        jump = chance.choice(("", "", "", "{{ if eq (printf \"%v\" .) \"b\" }}{{ break }}{{ end }}",
                              "{{ if not . }}{{ continue }}{{ end }}"))  # fmt: skip
        body = (
            jump + chance.choice(inner) + (self._body(depth + 1) if chance.random() < 0.2 else "")
        )
        written = f"{{{{ range {declared}{pipeline} }}}}{body}"
        del self._variables[kept:]
        if chance.random() < 0.4:
            written += f"{{{{ else }}}}{self._body(depth)}"
        return f"{written}{{{{ end }}}}"

    def _variable(self, depth: int) -> str:
        chance = self._chance
        kind = self._any()
        pipeline = self._pipeline(kind, depth)
        name = f"$v{len(self._variables)}"
        written = f"{{{{ {name} := {pipeline} }}}}"
        self._variables.append((name, kind))
        if chance.random() < 0.4:
            changed = (
                f"{{{{ {name} = {self._pipeline(chance.choice([kind, self._any()]), depth)} }}}}"
            )
            if chance.random() < 0.5:
                changed = f"{{{{ if {self._operand('b', 2)} }}}}{changed}{{{{ end }}}}"
            written += changed
        return written + self._piece(depth + 1)

    def _declare(self, kind: str) -> str:
        name = f"$v{len(self._variables)}"
        self._variables.append((name, kind))
        return f"{name} := "

    def _any(self) -> str:
        return self._chance.choice("ssnnnniiffblmmtxaaaaajj")

    def _pipeline(self, kind: str, depth: int) -> str:
        chance = self._chance
        if chance.random() < 0.25:
            piped = self._call_of(kind, depth, piped=True)
            if piped is not None:
                return piped
        if chance.random() < 0.7:
            called = self._call_of(kind, depth, piped=False)
            if called is not None:
                return called
        return self._operand(kind, depth)

    def _call_of(self, kind: str, depth: int, *, piped: bool) -> str | None:
        """Return a call that gives the kind, its last value piped in if that is requested."""
        chance = self._chance
        fitting = [
            one
            for one in _SIGNATURES
            if one[2] == kind or (kind != "y" and one[2] == "a") or (kind == "a" and one[2] != "y")
        ]
        if not fitting or depth > 3:
            return None
        name, takes, _ = chance.choice(fitting)
        if takes == "-":
            return name
        if takes.endswith("*"):
            takes = takes[:-1] + takes[-2] * chance.choice((0, 0, 1, 2))
        arguments = [self._argument(one, depth + 1) for one in takes]
        if piped and arguments:
            last = arguments.pop()
            return f"{last.removeprefix('(').removesuffix(')') if last.startswith('(') else last} | {' '.join([name, *arguments])}"
        return " ".join([name, *arguments])

    def _argument(self, kind: str, depth: int) -> str:
        if kind in "MO" or (kind in SPECIAL and self._chance.random() < 0.95):
            return self._chance.choice(SPECIAL[kind])
        if self._chance.random() < 0.06 or kind in SPECIAL:
            kind = self._any()  # a value of the wrong kind
        return self._operand("i" if kind == "j" else kind, depth)

    def _operand(self, kind: str, depth: int) -> str:
        chance = self._chance
        if kind == "a":
            kind = chance.choice("ssnnniifblmtx")
        fitting = [name for name, its in self._variables if its in (kind, "a")]
        if fitting and chance.random() < 0.4:
            return chance.choice(fitting)
        if kind in METHODS and chance.random() < 0.15:
            return f"({self._simple(kind)}{chance.choice(METHODS[kind])})"
        if depth < 3 and chance.random() < 0.35:
            called = self._call_of(kind, depth + 1, piped=False)
            if called is not None:
                return f"({called})"
        return self._simple(kind)

    def _simple(self, kind: str) -> str:
        if kind == "j":
            return "(add 1 2)"
        if kind in FIELDS and (kind not in LITERALS or self._chance.random() < 0.6):
            return self._chance.choice(FIELDS[kind])
        return self._chance.choice(LITERALS.get(kind, FIELDS["x"]))


def cases(count: int, seed: int) -> list[dict[str, str]]:
    """Return that many different templates."""
    chance = random.Random(seed)
    found: dict[str, None] = {}
    while len(found) < count:
        found.setdefault(Writer(chance).template())
    return [{"text": text} for text in found]


def main(count: int, seed: int, path: Path) -> None:
    """Write the file for the oracle."""
    about = f"Generated by tests/support/template_cases.py {count} {seed}; filled by tests/support/gotemplate_oracle."
    golden = {"about": about, "data": DATA, "cases": cases(count, seed)}
    path.write_text(json.dumps(golden, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))

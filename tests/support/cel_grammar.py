"""The grammar of the random expressions in CEL: what one of a type can be, with words in angle brackets for others."""

GRAMMAR = {
    name: tuple(line.strip() for line in lines.strip().splitlines())
    for name, lines in {
        "bool": """
            true
            false
            <bool> && <bool>
            <bool> || <bool>
            !<bool>
            <bool> ? <bool> : <bool>
            <str> == <str>
            <str> != <str>
            <str> < <str>
            <int> == <int>
            <int> <order> <int>
            <double> <order> <double>
            <uint> <order> <uint>
            <time> <order> <time>
            <duration> <order> <duration>
            <bytes> <order> <bytes>
            <bool> <order> <bool>
            <dyn> == <dyn>
            <dyn> != <any>
            <dyn> <order> <dyn>
            <dyn> == null
            <quantity> == <quantity>
            <time> == <time>
            <strs> == <strs>
            <ints> == <ints>
            <str>.startsWith(<str>)
            <str>.endsWith(<str>)
            <str>.contains(<str>)
            <str>.matches('^[a-z]+-?[0-9]*$')
            matches(<str>, 'o')
            <str> in <strs>
            <int> in <ints>
            <dyn> in <ints>
            <str> in <map>
            <dyn> in <dyn>
            <str> in ['a', 'Running', 'Pending', '']
            <ints>.all(x, x <order> <int>)
            <ints>.exists(x, x == <int>)
            <ints>.exists_one(x, x <order> <int>)
            <strs>.exists(s, s == <str> || s.contains(<str>))
            <strs>.all(s, size(s) > <int>)
            <map>.exists(k, k == <str>)
            <dyn>.exists(x, x == <any>)
            <ints>.exists(x, 10 / x > <int>)
            <ints>.all(x, <ints>.exists(y, x == y))
            bool(<str>)
            type(<any>) == type(<any>)
            type(<any>) == <type>
            """,
        "int": """
            0
            1
            2
            -3
            443
            9223372036854775807
            0x1F
            <int> + <int>
            <int> - <int>
            <int> * <int>
            <int> / <int>
            <int> % <int>
            -<int>
            <bool> ? <int> : <int>
            size(<str>)
            <strs>.size()
            size(<map>)
            int(<double>)
            int(<uint>)
            int(<str>)
            int('12')
            int(<time>)
            int(<duration>)
            <ints>[0]
            <ints>[<int>]
            <time>.getFullYear()
            <time>.getMonth()
            <time>.getDate()
            <time>.getDayOfWeek()
            <time>.getHours('+02:30')
            <time>.getDayOfYear()
            <duration>.getSeconds()
            <duration>.getMinutes()
            {'a': 1, 'b': <int>}[<str>]
            """,
        "double": """
            0.0
            1.5
            -2.25
            1e3
            .5
            <double> + <double>
            <double> - <double>
            <double> * <double>
            <double> / <double>
            -<double>
            double(<int>)
            double('3.5')
            double(<str>)
            UnixSecond(<time>)
            <time>.UnixSecond()
            """,
        "uint": """
            0u
            7u
            <uint> + <uint>
            <uint> - <uint>
            <uint> * <uint>
            <uint> / <uint>
            <uint> % <uint>
            uint(<int>)
            uint(<double>)
            uint('12')
            """,
        "str": """
            'a'
            ''
            "it's"
            r'\\d'
            'Running'
            'zone'
            'é€'
            '\\u00e9\\n'
            <str> + <str>
            string(<int>)
            string(<double>)
            string(<uint>)
            string(<bool>)
            string(<duration>)
            string(<time>)
            string(b'abc')
            <bool> ? <str> : <str>
            <strs>[0]
            <map>[<str>]
            <map>.a
            """,
        "bytes": """
            b'abc'
            b'\\xff'
            bytes(<str>)
            <bytes> + <bytes>
            """,
        "time": """
            timestamp('2026-01-02T03:04:05Z')
            timestamp('2026-01-02T03:04:05.25+01:30')
            timestamp(<int>)
            timestamp(<str>)
            <time> + <duration>
            <duration> + <time>
            <time> - <duration>
            """,
        "duration": """
            duration('1h')
            duration('-1.5s')
            duration('90m')
            duration(<str>)
            <duration> + <duration>
            <duration> - <duration>
            <time> - <time>
            """,
        "quantity": """
            Quantity('1Gi')
            Quantity('100m')
            Quantity('2.5')
            Quantity('0')
            Quantity('1e3')
            '3Ki'.Quantity()
            <quantity> + <quantity>
            <quantity> - <quantity>
            -<quantity>
            <quantity> * <int>
            <quantity> * 1.5
            <quantity> / 3
            <quantity> / <uint>
            <bool> ? <quantity> : <quantity>
            """,
        "ints": """
            [1, 2, 3]
            []
            [<int>, <int>]
            [0, <int>]
            <ints> + <ints>
            <ints>.map(x, x + <int>)
            <ints>.map(x, x > 1, x * 2)
            <ints>.filter(x, x <order> <int>)
            <strs>.map(s, size(s))
            """,
        "strs": """
            ['a', 'b']
            [<str>, <str>]
            <strs> + <strs>
            <strs>.filter(s, s != <str>)
            <strs>.map(s, s + <str>)
            {'a': 'x'}.map(k, k + <str>)
            <ints>.map(x, string(x))
            """,
        "map": """
            {'a': 'x', 'b': 'y'}
            {}
            {<str>: <str>}
            """,
        "dyn": """
            dyn(<any>)
            [1, 'a', null][<int>]
            {'a': 1, 'b': 'x'}[<str>]
            <dyn> + <any>
            <dyn> * <int>
            <dyn>[<any>]
            <bool> ? dyn(<int>) : dyn(<str>)
            """,
        "type": """
            int
            string
            google.protobuf.Timestamp
            google.protobuf.Duration
            list
            null_type
            type(<any>)
            """,
        "order": "<\n<=\n>\n>=",
    }.items()
}  # fmt: skip

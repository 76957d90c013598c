//! A text beside a column means what a value of the type means that it spells, in every form.

use tonnage_sql::{Answer, Request, Sql, SqlOptions};

use crate::{rows, session, session_with};

/// A type of column with texts that its rows hold.
struct Typed {
    column: &'static str,
    held: &'static [&'static str],
    /// Texts that are asked for, with the same values as expressions of a type.
    asked: &'static [(&'static str, &'static str)],
}

const TYPES: &[Typed] = &[
    Typed {
        column: "INTEGER",
        held: &["-5", "7", "20"],
        asked: &[("7", "CAST(7 AS INTEGER)"), ("9", "CAST(9 AS INTEGER)")],
    },
    Typed {
        column: "LONG",
        held: &["-5", "7", "9007199254740993"],
        asked: &[("9007199254740993", "9007199254740993"), ("8", "8")],
    },
    Typed {
        column: "FLOAT",
        held: &["-0.5", "0.1", "3"],
        asked: &[("0.1", "CAST('0.1' AS FLOAT)"), ("0.5", "CAST('0.5' AS FLOAT)")],
    },
    Typed {
        column: "DOUBLE",
        held: &["-0.5", "0.1", "1e20"],
        asked: &[("0.1", "CAST('0.1' AS DOUBLE)"), ("1e20", "CAST('1e20' AS DOUBLE)")],
    },
    Typed {
        column: "NUMBER(10, 2)",
        held: &["-1.5", "0.13", "2.25"],
        asked: &[
            ("0.13", "CAST('0.13' AS NUMBER(10, 2))"),
            ("0.1255", "CAST('0.1255' AS NUMBER(20, 6))"),
            ("-1.5000", "CAST('-1.5' AS NUMBER(20, 6))"),
            ("2.25e0", "2.25"),
        ],
    },
    Typed {
        column: "NUMBER(50, 4)",
        held: &["-1.5", "0.1255", "1234567890123456789012345678901234567890.0001"],
        asked: &[
            ("0.1255", "CAST('0.1255' AS NUMBER(50, 4))"),
            ("0.12551", "CAST('0.12551' AS NUMBER(20, 6))"),
        ],
    },
    Typed { column: "STRING", held: &["", "a", "b"], asked: &[("a", "lower('A')::STRING")] },
    Typed {
        column: "BOOLEAN",
        held: &["true", "false"],
        asked: &[("true", "CAST('true' AS BOOLEAN)")],
    },
    Typed {
        column: "BINARY",
        held: &[r"\x00", r"\xffff", "AAE="],
        asked: &[
            (r"\xffff", r"CAST('\xffff' AS BINARY)"),
            ("//8=", r"CAST('\xffff' AS BINARY)"),
            (r"\x01", r"CAST('\x01' AS BINARY)"),
        ],
    },
    Typed {
        column: "BINARY(2)",
        held: &[r"\x0000", r"\xffff", "AAE="],
        asked: &[
            (r"\xffff", r"CAST('\xffff' AS BINARY)"),
            ("AAE=", r"CAST('\x0001' AS BINARY)"),
            (r"\x01", r"CAST('\x01' AS BINARY)"),
        ],
    },
    Typed {
        column: "TIMESTAMP(0)",
        held: &["2024-01-01 10:00:05", "1970-01-01", "9999-12-31 23:59:59"],
        asked: &[
            ("2024-01-01 10:00:05", "TIMESTAMP '2024-01-01 10:00:05'"),
            ("2024-01-01 10:00:05.7", "TIMESTAMP '2024-01-01 10:00:05.7'"),
            ("9999-12-31 23:59:59", "TIMESTAMP '9999-12-31 23:59:59'"),
        ],
    },
    Typed {
        column: "TIMESTAMP(3)",
        held: &["2024-01-01 10:00:05.123", "1600-01-01"],
        asked: &[
            ("2024-01-01 10:00:05.123", "TIMESTAMP '2024-01-01 10:00:05.123'"),
            ("2024-01-01 10:00:05.123456", "TIMESTAMP '2024-01-01 10:00:05.123456'"),
        ],
    },
    Typed {
        column: "TIMESTAMP(6)",
        held: &["2024-01-01 10:00:05.123456", "9999-12-31"],
        asked: &[("2024-01-01 10:00:05.123456", "TIMESTAMP '2024-01-01 10:00:05.123456'")],
    },
    Typed {
        column: "TIMESTAMP(9)",
        held: &["2024-01-01 10:00:05.123456789", "1970-01-01"],
        asked: &[
            ("2024-01-01 10:00:05.123456789", "TIMESTAMP '2024-01-01 10:00:05.123456789'"),
            ("9999-12-31", "TIMESTAMP '9999-12-31'"),
        ],
    },
    Typed {
        column: "DATE",
        held: &["2024-01-01", "9999-12-31", "1600-02-29"],
        asked: &[("2024-01-01", "DATE '2024-01-01'"), ("9999-12-31", "DATE '9999-12-31'")],
    },
    Typed {
        column: "TIME",
        held: &["10:00:05", "23:59:59.999999999"],
        asked: &[("10:00:05", "CAST('10:00:05' AS TIME)")],
    },
    Typed {
        column: "UUID",
        held: &["00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002"],
        asked: &[(
            "00000000-0000-0000-0000-000000000002",
            "CAST('00000000-0000-0000-0000-000000000002' AS UUID)",
        )],
    },
    Typed { column: "ENUM('a', 'b')", held: &["a", "b"], asked: &[("b", "lower('B')")] },
];

/// Conditions on `v`, with `{}` for the value.
const CONDITIONS: &[&str] = &[
    "v = {}",
    "{} = v",
    "v <> {}",
    "v < {}",
    "v >= {}",
    "v IN ({}, NULL)",
    "v NOT IN ({})",
    "v BETWEEN {} AND {}",
    "v IS NOT DISTINCT FROM {}",
    "CASE v WHEN {} THEN true ELSE false END",
    "v = coalesce(NULL, {})",
    "v = CASE WHEN id > 0 THEN {} END",
    "NULLIF(v, {}) IS NULL",
    "v IN (SELECT {})",
    "v IN (VALUES ({}))",
    "v NOT IN (SELECT {})",
    "v = (SELECT {})",
    "v = ANY (ARRAY[{}])",
    "v = ANY (ARRAY[NULL, {}])",
    "v <> ALL (ARRAY[{}, {}])",
    "v < ANY (ARRAY[{}, {}])",
    "v >= ALL (ARRAY[{}])",
    "coalesce(v, v) < ANY (ARRAY[{}, {}])",
    "coalesce(v, v) = ALL (ARRAY[{}])",
    "(v IN (SELECT {}) OR v IN (SELECT {}))",
    "(v = {} OR v IN (SELECT {}) OR coalesce(v, v) IN (SELECT {}))",
    "v < (SELECT max(o) FROM (VALUES ({})) AS u (o))",
];

/// Queries that ask for a condition: of rows, of rows with a key, and as a value.
const FORMS: [&str; 3] = [
    "SELECT id FROM t WHERE {condition} ORDER BY id",
    "SELECT id FROM k WHERE {condition} ORDER BY id",
    "SELECT id, {condition} AS c FROM t ORDER BY id",
];

fn text(value: &str) -> String {
    format!("'{value}'")
}

/// What a statement gives, or that it fails.
fn answer(sql: &Sql, request: impl Into<Request>) -> Option<Vec<Vec<String>>> {
    let batch = sql.execute(request).and_then(|answer| answer.into_rows()?.into_batch()).ok()?;
    Some(crate::texts_of(&batch))
}

/// A table with the values of a type, and one of which they are the key.
fn filled(typed: &Typed, options: SqlOptions) -> Sql {
    let sql = session_with(options);
    let column = typed.column;
    sql.execute(format!(
        "CREATE TABLE t (id LONG, v {column}, n LONG, PRIMARY KEY (id));
         CREATE TABLE k (v {column}, id LONG, PRIMARY KEY (v))"
    ))
    .unwrap();
    for (id, held) in typed.held.iter().enumerate() {
        sql.execute(format!("INSERT INTO t VALUES ({id}, '{held}', 0)")).unwrap();
        sql.execute(format!("INSERT INTO k VALUES ('{held}', {id})")).unwrap();
    }
    sql.execute("INSERT INTO t VALUES (99, NULL, 0)").unwrap();
    sql
}

fn ways() -> [SqlOptions; 2] {
    [SqlOptions::default(), SqlOptions { direct: false, push_down: false, ..SqlOptions::default() }]
}

fn each(mut test: impl FnMut(&Sql, &Typed, &str, &str)) {
    for options in ways() {
        for typed in TYPES {
            let sql = filled(typed, options.clone());
            for (asked, value) in typed.asked {
                test(&sql, typed, asked, value);
            }
        }
    }
}

#[test]
fn a_text_in_a_condition_is_the_value_that_it_spells() {
    let mut faults = Vec::new();
    each(|sql, typed, asked, value| {
        for (form, condition) in
            CONDITIONS.iter().flat_map(|condition| FORMS.map(|form| (form, condition)))
        {
            let query = |value: &str| form.replace("{condition}", &condition.replace("{}", value));
            let (given, expected) = (query(&text(asked)), answer(sql, query(value).as_str()));
            // What the value itself cannot be asked is left open.
            if expected.is_none() {
                continue;
            }
            if answer(sql, given.as_str()) != expected {
                faults.push(format!("{}: {given} is not {}", typed.column, query(value)));
            }
        }
    });
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn a_text_as_a_parameter_is_the_text_that_is_written() {
    let mut faults = Vec::new();
    each(|sql, typed, asked, _| {
        for condition in CONDITIONS.iter().filter(|condition| !condition.contains("ANY")) {
            let query = |value: &str| {
                format!("SELECT id FROM t WHERE {} ORDER BY id", condition.replace("{}", value))
            };
            let written = answer(sql, query(&text(asked)).as_str());
            let bound = Request::new(query("$1")).bind(asked);
            if written.is_some() && answer(sql, &bound) != written {
                faults.push(format!("{}: {} with '{asked}'", typed.column, query("$1")));
            }
        }
    });
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn a_text_that_is_joined_or_given_is_the_value_that_it_spells() {
    let mut faults = Vec::new();
    each(|sql, typed, asked, value| {
        for query in [
            "SELECT id FROM (SELECT id, v, CASE WHEN id > 0 THEN {} ELSE v END AS o FROM t) AS c WHERE o = v ORDER BY 1",
            "SELECT t.id FROM t JOIN (VALUES ({})) AS o (o) ON t.v = o.o ORDER BY 1",
            "SELECT t.id FROM t JOIN (VALUES ({}), ({value})) AS o (o) ON t.v = o.o ORDER BY 1",
            "SELECT t.id FROM t LEFT JOIN (SELECT {} AS o) AS o ON t.v <> o.o WHERE o IS NULL ORDER BY 1",
            "SELECT t.id FROM t, (SELECT {} AS v) AS o WHERE t.v = o.v ORDER BY 1",
            "SELECT id FROM t WHERE v IN (SELECT v FROM k UNION ALL SELECT {}) ORDER BY id",
        ] {
            let query = query.replace("{value}", value);
            let expected = answer(sql, query.replace("{}", value).as_str());
            let given = query.replace("{}", &text(asked));
            let found = answer(sql, given.as_str());
            if expected.is_some() && found != expected {
                faults.push(format!("{}: {given} is not {expected:?}", typed.column));
            }
        }
        for form in [
            "coalesce(v, {})",
            "coalesce({}, v)",
            "greatest(v, {})",
            "least({}, v)",
            "greatest(v, {}, v)",
            "least(v, {}, NULL)",
            "nullif(v, {})",
            "nullif({}, v)",
            "ifnull(v, {})",
            "nvl({}, v)",
            "nvl2(v, {}, v)",
            "if(id = 1, {}, v)",
            "coalesce(NULL, v, {})",
            "coalesce(nullif(v, {}), {})",
            "ARRAY[v, {}]",
            "CASE WHEN id = 1 THEN v WHEN id = 2 THEN {} END",
            "CASE WHEN id = 1 THEN {} ELSE v END",
            "CASE WHEN id = 1 THEN v ELSE {} END",
            "CASE v WHEN {} THEN 1 ELSE 2 END",
        ] {
            let (one, other) = (form.replace("{}", &text(asked)), form.replace("{}", value));
            for query in [
                "SELECT id FROM t WHERE {one} IS DISTINCT FROM {other}",
                "SELECT id FROM (SELECT id, {one} AS a, {other} AS b FROM t) AS c WHERE a IS DISTINCT FROM b",
            ] {
                // What the value itself cannot be asked is left open.
                let expected = query.replace("{one}", &other).replace("{other}", &other);
                if answer(sql, expected.as_str()).is_none() {
                    continue;
                }
                let query = query.replace("{one}", &one).replace("{other}", &other);
                let found = answer(sql, query.as_str());
                if found.as_ref().is_none_or(|rows| !rows.is_empty()) {
                    faults.push(format!("{}: {query}: {found:?}", typed.column));
                }
            }
        }
    });
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

/// A text gives no type of its own to what is chosen beside it.
#[test]
fn a_choice_has_the_type_of_the_values_beside_the_text() {
    for (column, expected) in [("UUID", "uuid"), ("BINARY(2)", "bytea"), ("BOOLEAN", "boolean")] {
        let typed = TYPES.iter().find(|typed| typed.column == column).unwrap();
        let sql = filled(typed, SqlOptions::default());
        let asked = text(typed.asked[0].0);
        for chosen in ["coalesce(v, {})", "greatest({}, v)", "nullif(v, {})", "nullif({}, v)"] {
            let chosen = chosen.replace("{}", &asked);
            let query = format!("SELECT DISTINCT pg_typeof({chosen}) FROM t");
            assert_eq!(rows(&sql, &query), [[expected]], "{column}: {chosen}");
        }
    }
}

/// Both are 16 bytes, and a text may spell either.
#[test]
fn a_text_beside_a_uuid_and_sixteen_bytes_is_refused() {
    let sql = session();
    sql.execute("CREATE TABLE t (id LONG, u UUID, b BINARY(16), PRIMARY KEY (id))").unwrap();
    let query = "SELECT coalesce(u, b, '00000000-0000-0000-0000-000000000001') FROM t";
    let error = sql.execute(query).and_then(|answer| answer.into_rows()?.into_batch()).unwrap_err();
    assert!(error.message().contains("CAST('...' AS UUID)"), "{error}");
}

#[test]
fn a_change_finds_the_rows_that_a_text_spells() {
    each(|sql, typed, asked, value| {
        let count = |statement: &str, value: &str| {
            let statement = statement.replace("{}", value);
            match sql.execute(statement.as_str()) {
                Ok(Answer::Changed(changes)) => changes,
                Ok(_) => panic!("{}: {statement} changes nothing", typed.column),
                Err(error) => panic!("{}: {statement}: {error}", typed.column),
            }
        };
        for statement in [
            "UPDATE t SET n = n + 1 WHERE v = {}",
            "UPDATE t SET n = n + 1 WHERE v <> {}",
            "UPDATE t SET n = n + 1 WHERE v IN ({})",
            "DELETE FROM k WHERE v < {} AND id > 1000",
        ] {
            let expected = count(statement, value);
            let given = count(statement, &text(asked));
            assert_eq!(given, expected, "{}: {statement} with '{asked}'", typed.column);
        }
        // Within a transaction the row comes back.
        let found = rows(sql, format!("SELECT id FROM k WHERE v = {value}"));
        sql.execute("BEGIN").unwrap();
        let deleted = count("DELETE FROM k WHERE v = {}", &text(asked));
        sql.execute("ROLLBACK").unwrap();
        assert_eq!(deleted.deleted, found.len() as u64, "{}: '{asked}'", typed.column);
    });
}

#[test]
fn a_text_is_stored_as_the_value_that_it_spells() {
    for typed in TYPES {
        let sql = filled(typed, SqlOptions::default());
        for (asked, value) in typed.asked {
            let written = |value: &str, id: usize| {
                let one = sql.execute(format!("UPSERT INTO t VALUES ({id}, {value}, 0)"));
                let list = format!("UPSERT INTO t VALUES ({id}, {value}, 0), (1000, NULL, 0)");
                one.and_then(|_| sql.execute(&list)).map(|_| ())
            };
            // What does not fit is refused, and the same value that is computed may be rounded.
            if written(&text(asked), 500).is_err() {
                continue;
            }
            written(value, 501).unwrap();
            let query =
                "SELECT count(DISTINCT CAST(v AS STRING)) AS n FROM t WHERE id IN (500, 501)";
            if !typed.column.starts_with("BINARY") && typed.column != "STRING" {
                assert_eq!(rows(&sql, query), [["1"]], "{}: '{asked}' and {value}", typed.column);
            }
            let bound = Request::new("UPSERT INTO t VALUES (502, $1, 0)").bind(*asked);
            sql.execute(&bound).unwrap();
            let same = "SELECT one.id FROM t AS one JOIN t AS other ON one.v = other.v WHERE one.id = 500 AND other.id = 502";
            assert_eq!(rows(&sql, same), [["500"]], "{}: '{asked}'", typed.column);
        }
    }
}

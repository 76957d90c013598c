//! The keywords and statements of SQL, for completion, highlighting and `\h`.

/// Words that begin statements or stand inside them.
pub(super) const KEYWORDS: [&str; 129] = [
    "ADD",
    "ALL",
    "ALTER",
    "ANALYZE",
    "AND",
    "ANY",
    "AS",
    "ASC",
    "BEGIN",
    "BETWEEN",
    "BIGINT",
    "BINARY",
    "BOOLEAN",
    "BY",
    "CASE",
    "CAST",
    "COLUMN",
    "COLUMNS",
    "COMMIT",
    "CONFLICT",
    "COPY",
    "CREATE",
    "CROSS",
    "CURRENT",
    "DAYS",
    "DEFAULT",
    "DELETE",
    "DESC",
    "DESCRIBE",
    "DISTINCT",
    "DO",
    "DOUBLE",
    "DROP",
    "ELSE",
    "END",
    "EXCEPT",
    "EXECUTE",
    "EXISTS",
    "EXPLAIN",
    "FALSE",
    "FILTER",
    "FIRST",
    "FLOAT",
    "FOLLOWING",
    "FROM",
    "FULL",
    "GROUP",
    "HAVING",
    "HOURS",
    "IF",
    "ILIKE",
    "IN",
    "INDEX",
    "INNER",
    "INSERT",
    "INTEGER",
    "INTERSECT",
    "INTERVAL",
    "INTO",
    "IS",
    "JOIN",
    "JSON",
    "KEY",
    "LAST",
    "LATERAL",
    "LEFT",
    "LIKE",
    "LIMIT",
    "LONG",
    "MERGE",
    "NATURAL",
    "NOT",
    "NOTHING",
    "NULL",
    "NULLS",
    "NUMBER",
    "OFFSET",
    "ON",
    "OR",
    "ORDER",
    "OUTER",
    "OVER",
    "PARTITION",
    "PRECEDING",
    "PREPARE",
    "PRIMARY",
    "QUALIFY",
    "RANGE",
    "RECURSIVE",
    "RENAME",
    "REPLACE",
    "RETURNING",
    "RIGHT",
    "ROLLBACK",
    "ROLLUP",
    "ROW",
    "ROWS",
    "SELECT",
    "SEMI",
    "SET",
    "SHARD",
    "SHOW",
    "SIMILAR",
    "STRING",
    "SUMMARIZE",
    "TABLE",
    "TABLES",
    "THEN",
    "TIMESTAMP",
    "TO",
    "TRUE",
    "TTL",
    "UNBOUNDED",
    "UNION",
    "UNNEST",
    "UPDATE",
    "UPSERT",
    "USING",
    "UUID",
    "VALUES",
    "VERBOSE",
    "VIEW",
    "VIEWS",
    "WHEN",
    "WHERE",
    "WINDOW",
    "WITH",
    "WITHIN",
    "XOR",
];

/// Keywords that are names as well, and so need no quotes where they are one.
const NAMES_TOO: [&str; 33] = [
    "BEGIN",
    "BIGINT",
    "BINARY",
    "BOOLEAN",
    "COLUMNS",
    "COMMIT",
    "COPY",
    "DAYS",
    "DOUBLE",
    "EXECUTE",
    "FIRST",
    "FLOAT",
    "HOURS",
    "INTEGER",
    "JSON",
    "KEY",
    "LAST",
    "LONG",
    "MERGE",
    "NUMBER",
    "PREPARE",
    "RANGE",
    "RENAME",
    "ROLLBACK",
    "ROW",
    "ROWS",
    "STRING",
    "SUMMARIZE",
    "TABLES",
    "TIMESTAMP",
    "UUID",
    "VIEW",
    "VIEWS",
];

/// Statements by their first word: how they are written.
pub(super) const STATEMENTS: [(&str, &str); 26] = [
    (
        "SELECT",
        "columns FROM table [JOIN ...] [WHERE ...] [GROUP BY ...] [HAVING ...] [ORDER BY ...] [LIMIT n]",
    ),
    ("WITH", "name AS (SELECT ...) SELECT ... | INSERT ... | UPDATE ... | DELETE ... | MERGE ..."),
    (
        "INSERT",
        "INTO table [(columns)] VALUES (...), ... | SELECT ... [ON CONFLICT DO NOTHING | DO UPDATE SET column = EXCLUDED.column, ...] [RETURNING ...]",
    ),
    ("UPSERT", "INTO table [(columns)] VALUES (...), ... | SELECT ... [RETURNING ...]"),
    ("UPDATE", "table SET column = value, ... [FROM ...] [WHERE ...] [RETURNING ...]"),
    ("DELETE", "FROM table [USING ...] [WHERE ...] [RETURNING ...]"),
    (
        "MERGE",
        "INTO table USING source ON condition WHEN MATCHED THEN UPDATE SET ... | DELETE WHEN NOT MATCHED THEN INSERT (columns) VALUES (...) [RETURNING ...]",
    ),
    ("TRUNCATE", "table"),
    ("COPY", "table FROM 'file' | table TO 'file' | (SELECT ...) TO 'file'"),
    ("BEGIN", "opens a transaction over rows of one shard key"),
    ("COMMIT", "writes what the transaction has changed"),
    ("ROLLBACK", "forgets what the transaction has changed"),
    (
        "CREATE TABLE",
        "[IF NOT EXISTS] name (column TYPE [NOT NULL] [DEFAULT value], ..., PRIMARY KEY (SHARD(a), b)) [USING TTL n DAYS] | name (PRIMARY KEY (a)) AS SELECT ...",
    ),
    ("CREATE INDEX", "[IF NOT EXISTS] [name] ON table (column, document.place, ...)"),
    ("CREATE VIEW", "name AS SELECT ..."),
    (
        "ALTER TABLE",
        "name ADD column TYPE | DROP column | RENAME COLUMN a TO b | ALTER COLUMN a SET DEFAULT value | USING TTL n DAYS",
    ),
    ("DROP TABLE", "[IF EXISTS] name"),
    ("DROP INDEX", "[IF EXISTS] name [ON table]"),
    ("DROP VIEW", "[IF EXISTS] name"),
    (
        "SHOW",
        "TABLES | VIEWS | INDEXES | STATISTICS | COLUMNS FROM table | CREATE TABLE table | ALL | setting",
    ),
    ("SET", "setting = value"),
    ("PREPARE", "name AS statement; EXECUTE name (value, ...)"),
    ("DESCRIBE", "table | SELECT ..."),
    ("SUMMARIZE", "table | SELECT ..."),
    ("ANALYZE", "[table [(column, ...)]]"),
    ("EXPLAIN", "[ANALYZE] [VERBOSE] statement"),
];

/// Whether a word is one of the language.
pub(super) fn is_keyword(word: &str) -> bool {
    KEYWORDS.binary_search_by(|known| (*known).cmp(word.to_ascii_uppercase().as_str())).is_ok()
}

/// A name as statements have it, in quotes where it needs them.
pub(super) fn quoted(name: &str) -> String {
    let mut chars = name.chars();
    let is_plain = chars.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && chars.all(|char| char.is_ascii_alphanumeric() || char == '_');
    let is_reserved = is_keyword(name) && !NAMES_TOO.contains(&name.to_ascii_uppercase().as_str());
    if is_plain && !is_reserved {
        name.to_owned()
    } else {
        format!("\"{}\"", name.replace('"', "\"\""))
    }
}

/// The path of a table, each name by itself.
pub(super) fn quoted_path(path: &str) -> String {
    path.split('.').map(quoted).collect::<Vec<_>>().join(".")
}

/// What may follow the first words of a statement when nothing else is there yet.
pub(super) fn continuation(typed: &str) -> Option<&'static str> {
    let words: Vec<String> = typed.split_whitespace().map(str::to_ascii_uppercase).collect();
    let typed_whole = typed.ends_with(' ').then(|| words.join(" "))?;
    STATEMENTS.iter().find(|(words, _)| *words == typed_whole).map(|(_, rest)| *rest)
}

/// How a statement is written, or all of them.
pub(super) fn syntax(word: Option<&str>) -> Option<String> {
    let word = word.map(str::to_ascii_uppercase);
    let is_wanted =
        |statement: &str| word.as_ref().is_none_or(|word| statement.starts_with(word.as_str()));
    let lines: Vec<String> = STATEMENTS
        .iter()
        .filter(|(words, _)| is_wanted(words))
        .map(|(words, rest)| format!("{words} {rest}"))
        .collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_are_in_order() {
        assert!(KEYWORDS.is_sorted() && NAMES_TOO.iter().all(|name| is_keyword(name)));
        assert!(is_keyword("select") && !is_keyword("maker"));
    }

    #[test]
    fn names_are_quoted_where_a_statement_asks_for_it() {
        assert_eq!(
            quoted_path("phones.my images.Order.key._1"),
            "phones.\"my images\".\"Order\".key._1"
        );
        assert_eq!(quoted("a\"b"), "\"a\"\"b\"");
    }

    #[test]
    fn the_first_words_bring_what_may_follow() {
        assert_eq!(continuation("describe "), Some("table | SELECT ..."));
        assert_eq!(continuation("drop  index "), Some("[IF EXISTS] name [ON table]"));
        assert_eq!(continuation("drop"), None);
        assert_eq!(continuation("select 1 "), None);
    }

    #[test]
    fn syntax_is_told_of_one_word_or_of_all() {
        assert_eq!(syntax(Some("drop")).unwrap().lines().count(), 3);
        assert_eq!(syntax(None).unwrap().lines().count(), STATEMENTS.len());
        assert_eq!(syntax(Some("frob")), None);
    }
}

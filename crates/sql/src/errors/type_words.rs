//! Puts SQL's names of types into messages of DataFusion: `Utf8View` becomes STRING,
//! `Timestamp(Nanosecond, None)` TIMESTAMP(9), and the literal `Int64(5)` 5. What is in quotes
//! stays as it is.

/// Types whose names have no arguments.
const PLAIN: [(&str, &str); 22] = [
    ("Boolean", "BOOLEAN"),
    ("Int8", "TINYINT"),
    ("Int16", "SMALLINT"),
    ("Int32", "INTEGER"),
    ("Int64", "LONG"),
    ("UInt8", "INTEGER"),
    ("UInt16", "INTEGER"),
    ("UInt32", "LONG"),
    ("UInt64", "NUMBER(20, 0)"),
    ("Float16", "FLOAT"),
    ("Float32", "FLOAT"),
    ("Float64", "DOUBLE"),
    ("Utf8", "STRING"),
    ("LargeUtf8", "STRING"),
    ("Utf8View", "STRING"),
    ("Binary", "BINARY"),
    ("LargeBinary", "BINARY"),
    ("BinaryView", "BINARY"),
    ("Date32", "DATE"),
    ("Date64", "TIMESTAMP(3)"),
    ("Null", "NULL"),
    ("FixedSizeBinary", "BINARY"),
];

/// What may precede a type.
const PREFIX: &str = "DataType::";

/// The message with names that a user of SQL knows.
pub(crate) fn in_sql(message: &str) -> String {
    let mut out = String::with_capacity(message.len());
    let mut rest = message;
    while let Some(first) = rest.chars().next() {
        let before = out.chars().next_back();
        let taken = match first {
            // Values and names are in quotes, and may be spelled like types.
            '\'' | '"' | '`' if !before.is_some_and(char::is_alphanumeric) => {
                let end = rest[1..].find(first).map_or(rest.len(), |end| end + 2);
                out.push_str(&rest[..end]);
                end
            }
            _ if is_of_word(first) => {
                let word = word_of(rest);
                // After a point or a sign is the name of a column or a parameter.
                let is_name = before.is_some_and(|before| ".@$".contains(before));
                match sql_name(rest).filter(|_| !is_name) {
                    Some((name, end)) => {
                        out.push_str(&name);
                        end
                    }
                    None => {
                        out.push_str(word);
                        word.len()
                    }
                }
            }
            other => {
                out.push(other);
                other.len_utf8()
            }
        };
        rest = &rest[taken..];
    }
    out
}

fn is_of_word(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

fn word_of(text: &str) -> &str {
    &text[..text.find(|char| !is_of_word(char)).unwrap_or(text.len())]
}

/// What a type or a literal at the beginning of a text is called, and how long it is there.
fn sql_name(text: &str) -> Option<(String, usize)> {
    if let Some(bare) = text.strip_prefix(PREFIX) {
        return sql_name(bare).map(|(name, length)| (name, length + PREFIX.len()));
    }
    let word = word_of(text);
    let behind = &text[word.len()..];
    let inner = behind.strip_prefix('(').and_then(|inner| Some(&inner[..closed(inner)?]));
    // With its brackets.
    let length = word.len() + inner.map_or(0, |inner| inner.len() + 2);
    let plain = PLAIN.iter().find(|(own, _)| *own == word).map(|(_, name)| *name);
    let name = match (word, inner) {
        ("FixedSizeBinary", Some("16")) => "UUID".to_owned(),
        ("FixedSizeBinary", Some(width)) => format!("BINARY({width})"),
        // Prose has this word, too.
        ("Binary", None) if behind.starts_with(" op") || behind.starts_with(" expr") => {
            return None;
        }
        (_, Some(literal)) if plain.is_some() => literal_of(literal),
        (_, None) if plain.is_some() => plain?.to_owned(),
        ("Timestamp", Some(inner)) => format!("TIMESTAMP({})", digits(inner)?),
        ("Time32" | "Time64", Some(_)) => "TIME".to_owned(),
        ("Interval" | "Duration", Some(_)) => "INTERVAL".to_owned(),
        ("Decimal32" | "Decimal64" | "Decimal128" | "Decimal256", Some(inner)) => {
            format!("NUMBER({inner})")
        }
        ("List" | "LargeList" | "FixedSizeList" | "ListView" | "LargeListView", Some(inner)) => {
            let item = ["nullable ", "non-null "].iter().find_map(|word| inner.strip_prefix(word));
            let item = sql_name(item.unwrap_or(inner));
            item.map_or_else(|| "ARRAY".to_owned(), |(item, _)| format!("ARRAY({item})"))
        }
        ("Struct", Some(_)) => "RECORD".to_owned(),
        ("Map", Some(_)) => "MAP".to_owned(),
        ("Union", Some(_)) => "values of several types".to_owned(),
        ("Dictionary", Some(inner)) => sql_name(inner.split_once(", ")?.1)?.0,
        _ => return None,
    };
    Some((name, length))
}

/// A literal as SQL writes it.
fn literal_of(inner: &str) -> String {
    match inner.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
        Some(text) => format!("'{}'", text.replace('\'', "''")),
        None => inner.to_owned(),
    }
}

/// The digits after the second that a unit has.
fn digits(inner: &str) -> Option<u8> {
    match inner.split(',').next()?.trim() {
        "Second" | "s" => Some(0),
        "Millisecond" | "ms" => Some(3),
        "Microsecond" | "us" | "µs" => Some(6),
        "Nanosecond" | "ns" => Some(9),
        _ => None,
    }
}

/// Where the bracket that is open before a text is closed in it.
fn closed(text: &str) -> Option<usize> {
    let (mut depth, mut in_quotes) = (0_usize, false);
    for (at, char) in text.char_indices() {
        match char {
            '"' => in_quotes = !in_quotes,
            '(' if !in_quotes => depth += 1,
            ')' if !in_quotes && depth == 0 => return Some(at),
            ')' if !in_quotes => depth -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::in_sql;

    #[test]
    fn types_have_the_names_of_sql() {
        for (message, expected) in [
            (
                "Cannot cast string 'Int64' to value of Int64 type",
                "Cannot cast string 'Int64' to value of LONG type",
            ),
            (
                "There isn't a common type to coerce Utf8View and Timestamp(Nanosecond, None)",
                "There isn't a common type to coerce STRING and TIMESTAMP(9)",
            ),
            (
                "Timestamp(µs, \"UTC\") + Timestamp(Second, Some(\"UTC\"))",
                "TIMESTAMP(6) + TIMESTAMP(0)",
            ),
            ("Decimal128(10, 2) and DataType::LargeUtf8", "NUMBER(10, 2) and STRING"),
            ("abs(Utf8(\"it's (a)\")) + Int64(5) = Boolean(NULL)", "abs('it''s (a)') + 5 = NULL"),
            (
                "List(nullable Int32) or List(Field { name: \"item\", data_type: Int64 })",
                "ARRAY(INTEGER) or ARRAY",
            ),
            (
                "Dictionary(Int32, Utf8), Struct(\"a\": Int64), Map(Field { .. }, false)",
                "STRING, RECORD, MAP",
            ),
            (
                "Interval(MonthDayNano) FixedSizeBinary(16) FixedSizeBinary(3)",
                "INTERVAL UUID BINARY(3)",
            ),
            (
                "there is no column t.Int64, \"Utf8\" or `Binary`; Binary operator",
                "there is no column t.Int64, \"Utf8\" or `Binary`; Binary operator",
            ),
            (
                "Int64s of a Map and a List, Timestamp(x), Utf8(",
                "Int64s of a Map and a List, Timestamp(x), STRING(",
            ),
        ] {
            assert_eq!(in_sql(message), expected);
        }
    }
}

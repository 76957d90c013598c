//! The grammar of columns: names, types and options.

use sqlparser::tokenizer::Token;
use tonnage_engine::Result;

use super::token_cursor::TokenCursor;
use crate::schema::{ColumnDefinition, DefaultFunction, Generated, Identity, NUMBER_DIGITS_MAX};
use crate::schema::{ColumnType, ElementType, EnumSymbols, RecordField, RecordFields};
use crate::value::Value;

/// `name TYPE [NOT NULL | NULL] [DEFAULT literal | function] [GENERATED ... AS IDENTITY]`, and
/// whether `PRIMARY KEY` followed it.
pub(super) fn column(cursor: &mut TokenCursor) -> Result<(ColumnDefinition, bool)> {
    let name = cursor.name("the name of a column")?;
    let serial = serial(cursor);
    let mut column = match serial {
        Some(column_type) => ColumnDefinition::new(name, column_type),
        None => ColumnDefinition::new(name, column_type(cursor)?),
    };
    if serial.is_some() {
        column.identity = Some(Identity { generated: Generated::ByDefault, ..Identity::default() });
    }
    let mut is_key = false;
    // The options come in any order, as in PostgreSQL. The last one of a kind counts.
    loop {
        if let Some((_, told)) = NOT_OFFERED.iter().find(|(word, _)| cursor.is_word(word)) {
            return Err(cursor.error_at(cursor.location(), told));
        }
        if cursor.word("NOT") {
            cursor.expect_word("NULL")?;
            column.nullable = false;
        } else if cursor.word("NULL") {
            column.nullable = true;
        } else if cursor.word("DEFAULT") {
            (column.default, column.default_function) = match default_function(cursor)? {
                Some(function) => (None, Some(function)),
                None => (Some(literal(cursor, column.column_type)?), None),
            };
        } else if cursor.is_word("GENERATED") {
            // The location is taken before the word, so that a refusal points at GENERATED.
            let place = cursor.location();
            cursor.word("GENERATED");
            if cursor.is_generated_value() {
                return Err(cursor.error_at(
                    place,
                    "a column is not computed from others: a view computes as it is read",
                ));
            }
            column.identity = Some(identity(cursor)?);
        } else if cursor.word("COLLECTION") {
            column.is_collection = true;
        } else if cursor.word("PRIMARY") {
            cursor.expect_word("KEY")?;
            is_key = true;
        } else {
            return Ok((column, is_key));
        }
    }
}

/// What other databases write after a column, with our answer.
const NOT_OFFERED: [(&str, &str); 4] = [
    ("CHECK", "nothing but NOT NULL and the types is checked: leave CHECK out"),
    (
        "REFERENCES",
        "rows do not refer to others: a child table, as in phones.images, goes with its parent",
    ),
    ("UNIQUE", "only the primary key is unique: leave UNIQUE out"),
    ("COLLATE", "text is ordered by its bytes: leave COLLATE out"),
];

/// The type of a column that PostgreSQL calls SERIAL: a number that the store gives.
fn serial(cursor: &mut TokenCursor) -> Option<ColumnType> {
    if cursor.word("BIGSERIAL") || cursor.word("SERIAL8") {
        return Some(ColumnType::Long);
    }
    let is_serial = ["SERIAL", "SERIAL4", "SMALLSERIAL"].iter().any(|word| cursor.word(word));
    is_serial.then_some(ColumnType::Integer)
}

/// `ALWAYS | BY DEFAULT [ON NULL] AS IDENTITY [(START WITH n INCREMENT BY n MINVALUE n MAXVALUE n
/// CYCLE CACHE n)]`, after `GENERATED`.
fn identity(cursor: &mut TokenCursor) -> Result<Identity> {
    let mut identity = Identity::default();
    if !cursor.word("ALWAYS") {
        cursor.expect_word("BY")?;
        cursor.expect_word("DEFAULT")?;
        identity.generated = Generated::ByDefault;
        if cursor.word("ON") {
            cursor.expect_word("NULL")?;
            identity.generated = Generated::ByDefaultOnNull;
        }
    }
    cursor.expect_word("AS")?;
    cursor.expect_word("IDENTITY")?;
    if !cursor.token(&Token::LParen) {
        return Ok(identity);
    }
    // SQL has no commas between the options. One that is there is passed over.
    while !cursor.token(&Token::RParen) {
        if cursor.word("START") {
            cursor.expect_word("WITH")?;
            identity.start = signed(cursor)?;
        } else if cursor.word("INCREMENT") {
            cursor.expect_word("BY")?;
            identity.increment = signed(cursor)?;
        } else if cursor.word("CACHE") {
            identity.cache = cursor.whole("how many numbers are kept ready")?;
        } else if cursor.word("MAXVALUE") {
            identity.max = Some(signed(cursor)?);
        } else if cursor.word("MINVALUE") {
            identity.min = Some(signed(cursor)?);
        } else if cursor.word("CYCLE") {
            identity.cycle = true;
        } else if cursor.word("NO") {
            no_option(cursor, &mut identity)?;
        } else {
            // At the end of the text as well: an open parenthesis would else loop for ever.
            return Err(cursor
                .expected("START WITH, INCREMENT BY, MINVALUE, MAXVALUE, CYCLE, CACHE or ')'"));
        }
        cursor.token(&Token::Comma);
    }
    Ok(identity)
}

/// `MAXVALUE | MINVALUE | CYCLE`, after `NO`.
fn no_option(cursor: &mut TokenCursor, identity: &mut Identity) -> Result<()> {
    if cursor.word("MAXVALUE") {
        identity.max = None;
    } else if cursor.word("MINVALUE") {
        identity.min = None;
    } else if cursor.word("CYCLE") {
        identity.cycle = false;
    } else {
        return Err(cursor.expected("MAXVALUE, MINVALUE or CYCLE"));
    }
    Ok(())
}

/// A whole number of 64 bits.
fn signed(cursor: &mut TokenCursor) -> Result<i64> {
    const WHAT: &str = "a whole number of 64 bits";
    let location = cursor.location();
    let sign = if cursor.token(&Token::Minus) { "-" } else { "" };
    let text = format!("{sign}{}", cursor.number(WHAT)?);
    text.parse().map_err(|_| cursor.error_at(location, &format!("{text} is not {WHAT}")))
}

/// A type; brackets after it mean an array of it.
pub(super) fn column_type(cursor: &mut TokenCursor) -> Result<ColumnType> {
    let place = cursor.location();
    let mut column_type = plain_type(cursor)?;
    while cursor.token(&Token::LBracket) {
        cursor.expect(&Token::RBracket)?;
        let element = ElementType::new(column_type);
        column_type =
            ColumnType::Array(element.map_err(|error| cursor.error_at(place, error.message()))?);
    }
    Ok(column_type)
}

fn plain_type(cursor: &mut TokenCursor) -> Result<ColumnType> {
    const TYPES: &str = "INTEGER, LONG, FLOAT, DOUBLE, NUMBER, STRING, BOOLEAN, BINARY, TIMESTAMP, DATE, TIME, UUID, ENUM, JSON, ARRAY, MAP or RECORD";
    let location = cursor.location();
    let word = cursor.plain_word(&format!("a type ({TYPES})"))?;
    // Each type has a word of Tonnage, which DESCRIBE prints, and words of other databases. A new
    // type must also be added to the list that the errors name.
    Ok(match word.to_ascii_uppercase().as_str() {
        "INTEGER" | "INT" | "INT4" | "SMALLINT" | "TINYINT" => ColumnType::Integer,
        "LONG" | "BIGINT" | "INT8" => ColumnType::Long,
        "FLOAT" | "REAL" | "FLOAT4" => ColumnType::Float,
        "DOUBLE" => {
            cursor.word("PRECISION");
            ColumnType::Double
        }
        "FLOAT8" => ColumnType::Double,
        "NUMBER" | "DECIMAL" | "NUMERIC" => number(cursor)?,
        "STRING" | "TEXT" | "VARCHAR" | "CHAR" | "CLOB" => {
            length(cursor)?;
            ColumnType::String
        }
        "BOOLEAN" | "BOOL" => ColumnType::Boolean,
        "BINARY" => binary(cursor)?,
        "VARBINARY" | "BYTES" | "BYTEA" | "BLOB" => {
            length(cursor)?;
            ColumnType::Binary
        }
        "TIMESTAMP" | "DATETIME" | "TIMESTAMPTZ" => {
            let column_type = timestamp(cursor)?;
            without_zone(cursor)?;
            column_type
        }
        "DATE" => ColumnType::Date,
        "TIME" => {
            // The digits of a TIME(3) are passed over: a TIME always has nine.
            length(cursor)?;
            let place = cursor.location();
            if cursor.is_word("WITH") {
                return Err(cursor.error_at(place, "a TIME has no zone: leave WITH TIME ZONE out"));
            }
            without_zone(cursor)?;
            ColumnType::Time
        }
        "ENUM" => ColumnType::Enum(symbols(cursor)?),
        "ARRAY" => ColumnType::Array(element(cursor)?),
        "MAP" => ColumnType::Map(element(cursor)?),
        "RECORD" => ColumnType::Record(fields(cursor)?),
        "UUID" => ColumnType::Uuid,
        "JSON" | "JSONB" => ColumnType::Json,
        _ => {
            return Err(
                cursor.error_at(location, &format!("unknown type {word}; the types are {TYPES}"))
            );
        }
    })
}

fn number(cursor: &mut TokenCursor) -> Result<ColumnType> {
    if !cursor.token(&Token::LParen) {
        return Ok(ColumnType::NUMBER);
    }
    let location = cursor.location();
    let precision = cursor.whole("a precision of 1 to 76")?;
    let scale = if cursor.token(&Token::Comma) {
        cursor.whole("a scale of 0 to the precision")?
    } else {
        0
    };
    if !(1..=NUMBER_DIGITS_MAX).contains(&precision) || scale < 0 || scale as u8 > precision {
        return Err(cursor.error_at(
            location,
            &format!("NUMBER takes a precision of 1 to {NUMBER_DIGITS_MAX} and a scale of 0 to the precision, not ({precision}, {scale})"),
        ));
    }
    cursor.expect(&Token::RParen)?;
    Ok(ColumnType::Number { precision, scale })
}

/// Without digits given a timestamp counts microseconds, as in standard SQL.
fn timestamp(cursor: &mut TokenCursor) -> Result<ColumnType> {
    if !cursor.token(&Token::LParen) {
        return Ok(ColumnType::Timestamp(6));
    }
    let location = cursor.location();
    let precision = cursor.whole("a precision of 0 to 9")?;
    if precision > 9 {
        return Err(cursor.error_at(
            location,
            &format!("TIMESTAMP takes a precision of 0 to 9, not {precision}"),
        ));
    }
    cursor.expect(&Token::RParen)?;
    Ok(ColumnType::Timestamp(precision))
}

/// `WITH TIME ZONE` or `WITHOUT TIME ZONE`: either way a TIMESTAMP is a point in time, shown in
/// UTC.
fn without_zone(cursor: &mut TokenCursor) -> Result<()> {
    if cursor.word("WITH") || cursor.word("WITHOUT") {
        cursor.expect_word("TIME")?;
        cursor.expect_word("ZONE")?;
    }
    Ok(())
}

/// Bytes of any number, or `(n)` of just that number.
fn binary(cursor: &mut TokenCursor) -> Result<ColumnType> {
    const LENGTH: &str = "a length of 1 to 65,535 bytes";
    if !cursor.token(&Token::LParen) {
        return Ok(ColumnType::Binary);
    }
    let location = cursor.location();
    let width = cursor.whole(LENGTH)?;
    if width == 0 {
        return Err(cursor.error_at(location, &format!("BINARY takes {LENGTH}, not 0")));
    }
    cursor.expect(&Token::RParen)?;
    Ok(ColumnType::FixedBinary(width))
}

/// The type in parentheses after ARRAY or MAP.
fn element(cursor: &mut TokenCursor) -> Result<ElementType> {
    let location = cursor.location();
    cursor.expect(&Token::LParen)?;
    let inner = cursor.nested(column_type)?;
    cursor.expect(&Token::RParen)?;
    ElementType::new(inner).map_err(|error| cursor.error_at(location, error.message()))
}

/// The fields in parentheses after RECORD.
fn fields(cursor: &mut TokenCursor) -> Result<RecordFields> {
    let location = cursor.location();
    let fields = cursor.list(|cursor| {
        let name = cursor.name("the name of a field")?;
        Ok(RecordField { name, column_type: cursor.nested(column_type)? })
    })?;
    RecordFields::new(fields).map_err(|error| cursor.error_at(location, error.message()))
}

/// The symbols of an ENUM: names, or text in single quotes.
fn symbols(cursor: &mut TokenCursor) -> Result<EnumSymbols> {
    let location = cursor.location();
    let symbols = cursor.list(|cursor| match cursor.text() {
        Some(symbol) => Ok(symbol),
        None => cursor.quotable("a symbol of the ENUM"),
    })?;
    EnumSymbols::new(symbols).map_err(|error| cursor.error_at(location, error.message()))
}

/// `(n)` after text and bytes is read for the sake of other dialects; nothing is cut to it.
fn length(cursor: &mut TokenCursor) -> Result<()> {
    if cursor.token(&Token::LParen) {
        cursor.whole::<u64>("a length")?;
        cursor.expect(&Token::RParen)?;
    }
    Ok(())
}

/// A value for a column: NULL, TRUE, FALSE, a number with or without sign, or text in quotes for
/// every type.
fn literal(cursor: &mut TokenCursor, column_type: ColumnType) -> Result<Value> {
    let location = cursor.location();
    if cursor.word("NULL") {
        return Ok(Value::Null);
    }
    let takes_text = matches!(
        column_type,
        ColumnType::String
            | ColumnType::Binary
            | ColumnType::FixedBinary(_)
            | ColumnType::Timestamp(_)
            | ColumnType::Date
            | ColumnType::Time
            | ColumnType::Enum(_)
            | ColumnType::Array(_)
            | ColumnType::Map(_)
            | ColumnType::Record(_)
            | ColumnType::Uuid
    );
    if takes_text && cursor.peeked_text().is_none() {
        return Err(cursor.expected(&format!("text in single quotes for a {column_type}")));
    }
    let text = literal_text(cursor)?;
    Value::parse(&text, column_type).map_err(|error| cursor.error_at(location, error.message()))
}

/// A function that makes a default anew for each row, under the names of PostgreSQL and DuckDB.
pub(super) fn default_function(cursor: &mut TokenCursor) -> Result<Option<DefaultFunction>> {
    const BARE: [(&str, DefaultFunction); 5] = [
        ("CURRENT_TIMESTAMP", DefaultFunction::Now),
        ("LOCALTIMESTAMP", DefaultFunction::Now),
        ("CURRENT_DATE", DefaultFunction::CurrentDate),
        ("CURRENT_TIME", DefaultFunction::CurrentTime),
        ("LOCALTIME", DefaultFunction::CurrentTime),
    ];
    const CALLED: [(&str, DefaultFunction); 5] = [
        ("NOW", DefaultFunction::Now),
        ("UUID", DefaultFunction::Uuid),
        ("GEN_RANDOM_UUID", DefaultFunction::Uuid),
        ("RANDOM_UUID", DefaultFunction::Uuid),
        ("UUIDV4", DefaultFunction::Uuid),
    ];
    if let Some((_, function)) = BARE.iter().find(|(word, _)| cursor.word(word)) {
        // How many digits there are is said by the type of the column.
        if cursor.token(&Token::LParen) && !cursor.token(&Token::RParen) {
            cursor.whole::<u8>("how many digits follow the second")?;
            cursor.expect(&Token::RParen)?;
        }
        return Ok(Some(*function));
    }
    if let Some((word, function)) = CALLED.iter().find(|(word, _)| cursor.is_call(word)) {
        cursor.expect_word(word)?;
        cursor.expect(&Token::LParen)?;
        cursor.expect(&Token::RParen)?;
        return Ok(Some(*function));
    }
    // Of a literal nothing is taken: how it is read is up to the caller.
    match cursor.is_expression() {
        true => Err(cursor.expected(
            "a literal, now(), current_date, current_time or uuid(): a DEFAULT is no other expression",
        )),
        false => Ok(None),
    }
}

/// TRUE, FALSE, a number with or without sign, or text in quotes, as text.
pub(super) fn literal_text(cursor: &mut TokenCursor) -> Result<String> {
    if let Some(text) = cursor.text() {
        return Ok(text);
    }
    if cursor.is_word("TRUE") || cursor.is_word("FALSE") {
        return Ok(cursor.plain_word("a literal")?.to_ascii_lowercase());
    }
    let sign = if cursor.token(&Token::Minus) { "-" } else { "" };
    // One sign alone: `-+5` is not a literal.
    if sign.is_empty() {
        cursor.token(&Token::Plus);
    }
    Ok(format!("{sign}{}", cursor.number("a literal")?))
}

//! Values of documents as columns hold them. Errors have the words of the protocol.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use tonnage::{ColumnType, Value};

use super::decimal::is_same_decimal;
use super::json_text::json_text;
use super::timestamp::{parse_timestamp, timestamp_of_ms};
use super::told::kind_name;
use crate::nson::{NsonFields, NsonView};

type Given = Result<Value, String>;

/// What a column of that type holds of a value.
///
/// # Errors
/// Why it cannot hold it.
pub(crate) fn column_value(value: NsonView<'_>, column_type: ColumnType) -> Given {
    match column_type {
        // A document has a null of its own.
        ColumnType::Json => json_text(value).map(Value::Json),
        _ if value.is_null() => Ok(Value::Null),
        _ => typed_value(value, column_type),
    }
}

fn typed_value(value: NsonView<'_>, column_type: ColumnType) -> Given {
    match column_type {
        ColumnType::Integer => {
            whole(value, "Integer", "int", i32::MIN.into(), i32::MAX.into()).map(|whole| {
                // It is between the bounds.
                Value::Integer(whole as i32)
            })
        }
        ColumnType::Long => whole(value, "Long", "long", i64::MIN, i64::MAX).map(Value::Long),
        ColumnType::Float => float(value),
        ColumnType::Double => double(value),
        ColumnType::Number { .. } => number(value, column_type),
        ColumnType::Boolean => match value {
            NsonView::Boolean(truth) => Ok(Value::Boolean(truth)),
            NsonView::String(text) => Ok(Value::Boolean(text.eq_ignore_ascii_case("true"))),
            other => Err(wrong_kind("Boolean", other)),
        },
        // A number counts milliseconds.
        ColumnType::Timestamp(precision) => match value {
            NsonView::Timestamp(text) | NsonView::String(text) => parse_timestamp(text, precision),
            NsonView::Integer(ms) => timestamp_of_ms(ms.into(), precision),
            NsonView::Long(ms) => timestamp_of_ms(ms, precision),
            other => Err(wrong_kind("Timestamp", other)),
        },
        ColumnType::Binary => binary(value).map(Value::Binary),
        ColumnType::FixedBinary(width) => match binary(value)? {
            bytes if bytes.len() == usize::from(width) => Ok(Value::Binary(bytes)),
            bytes => Err(format!(
                "Invalid length for FixedBinary array, it must be {width}, and it is {}",
                bytes.len()
            )),
        },
        ColumnType::Array(_) | ColumnType::Map(_) | ColumnType::Record(_) => {
            nested(value, column_type)
        }
        _ => text(value, column_type),
    }
}

/// Text, and what is written as text.
fn text(value: NsonView<'_>, column_type: ColumnType) -> Given {
    let NsonView::String(text) = value else { return Err(mismatch("STRING", value)) };
    match column_type {
        ColumnType::Enum(symbols) => match symbols.place(text) {
            Some(_) => Ok(Value::String(text.to_owned())),
            None => Err(format!(
                "Invalid enumeration value '{text}', must be in values: [{}]",
                symbols.symbols().join(", ")
            )),
        },
        ColumnType::Uuid => {
            Value::parse(text, column_type).map_err(|_| format!("Invalid UUID string: {text}"))
        }
        ColumnType::Date | ColumnType::Time => {
            Value::parse(text, column_type).map_err(|error| error.message().to_owned())
        }
        _ => Ok(Value::String(text.to_owned())),
    }
}

fn whole(value: NsonView<'_>, kind: &str, java: &str, low: i64, high: i64) -> Result<i64, String> {
    let overflow = |shown: &dyn std::fmt::Display| {
        format!("{kind} overflow: {shown}").replacen("Integer", "Int", 1)
    };
    let within = |number: i64, shown: &dyn std::fmt::Display| {
        if (low..=high).contains(&number) { Ok(number) } else { Err(overflow(shown)) }
    };
    match value {
        NsonView::Integer(number) => Ok(number.into()),
        NsonView::Long(number) => within(number, &number),
        NsonView::Double(number) => {
            // Every whole double below 2^63 is a whole number of 64 bits.
            let is_whole = number.fract() == 0.0 && number.abs() < 9_223_372_036_854_775_808.0;
            let whole = is_whole.then_some(number as i64).filter(|n| (low..=high).contains(n));
            whole
                .ok_or_else(|| format!("Converting double to {java} loses information: {number:?}"))
        }
        // 3.0 and 1E+2 are whole numbers, too.
        NsonView::Number(text) => match Value::parse(text, ColumnType::Long) {
            Ok(Value::Long(number)) => within(number, &text),
            _ => Err(overflow(&text)),
        },
        NsonView::String(text) => {
            let number = text.trim().parse().ok().filter(|number| (low..=high).contains(number));
            number.ok_or_else(|| format!("Invalid string for {kind}: {text}"))
        }
        other => Err(wrong_kind(kind, other)),
    }
}

fn double(value: NsonView<'_>) -> Given {
    let number = match value {
        NsonView::Integer(number) => number.into(),
        NsonView::Long(number) => exact_double(number)
            .ok_or_else(|| format!("Converting long to double loses information: {number}"))?,
        NsonView::Double(number) => number,
        NsonView::Number(text) => {
            let number: f64 = text.parse().map_err(|_| format!("{text} is not a number"))?;
            // A number beyond all doubles becomes an infinity, as in the protocol's own server.
            if number.is_finite() && !is_same_decimal(text, &number.to_string()) {
                return Err(format!("Converting decimal to double loses information: {text}"));
            }
            number
        }
        NsonView::String(text) => {
            text.trim().parse().map_err(|_| format!("Invalid string for Double: {text}"))?
        }
        other => return Err(wrong_kind("Double", other)),
    };
    Ok(Value::Double(number))
}

fn float(value: NsonView<'_>) -> Given {
    let lost = |from: &str, shown: String| {
        Err(format!("Converting {from} to float loses information: {shown}"))
    };
    let number = match value {
        NsonView::Integer(number) if f64::from(number as f32) != f64::from(number) => {
            return lost("int", number.to_string());
        }
        NsonView::Integer(number) => number.into(),
        NsonView::Long(number) => match exact_double(number).filter(|n| f64::from(*n as f32) == *n)
        {
            Some(number) => number,
            None => return lost("long", number.to_string()),
        },
        NsonView::Double(number) => number,
        NsonView::Number(text) => text.parse().map_err(|_| format!("{text} is not a number"))?,
        NsonView::String(text) => {
            text.trim().parse().map_err(|_| format!("Invalid string for Float: {text}"))?
        }
        other => return Err(wrong_kind("Float", other)),
    };
    let nearest = number as f32;
    // A fraction is rounded. A number that becomes nothing or an infinity is refused.
    let is_gone = nearest.is_infinite() && number.is_finite() || nearest == 0.0 && number != 0.0;
    if is_gone { lost("double", format!("{number:?}")) } else { Ok(Value::Float(nearest)) }
}

/// The double that is just this number, if there is one.
fn exact_double(number: i64) -> Option<f64> {
    let nearest = number as f64;
    // One that was rounded up to 2^63 would come back as the greatest number.
    let is_exact = nearest < 9_223_372_036_854_775_808.0 && nearest as i64 == number;
    is_exact.then_some(nearest)
}

fn number(value: NsonView<'_>, column_type: ColumnType) -> Given {
    let text = match value {
        NsonView::Integer(number) => number.to_string(),
        NsonView::Long(number) => number.to_string(),
        NsonView::Double(number) => number.to_string(),
        NsonView::Number(text) => text.to_owned(),
        NsonView::String(text) => text.trim().to_owned(),
        other => return Err(wrong_kind("Number", other)),
    };
    Value::parse_given(&text, column_type).map_err(|error| error.message().to_owned())
}

fn binary(value: NsonView<'_>) -> Result<Vec<u8>, String> {
    match value {
        NsonView::Binary(bytes) => Ok(bytes.to_vec()),
        NsonView::String(text) => BASE64_STANDARD.decode(text).map_err(|_| {
            format!("Invalid string for binary value: {text} is not padded base64 string")
        }),
        other => Err(mismatch("BINARY", other)),
    }
}

fn nested(value: NsonView<'_>, column_type: ColumnType) -> Given {
    match (value, column_type) {
        (NsonView::Array(items), ColumnType::Array(element)) => {
            let items = items.map(|item| element_value(item, element.column_type()));
            items.collect::<Result<_, _>>().map(Value::Array)
        }
        (NsonView::Map(fields), ColumnType::Map(element)) => {
            let members = fields.map(|(name, value)| {
                Ok((name.to_owned(), element_value(value, element.column_type())?))
            });
            members.collect::<Result<_, String>>().map(Value::Map)
        }
        // Whatever is not a map has no fields that a record knows.
        (value, ColumnType::Record(_)) => record(value.fields().unwrap_or_default(), column_type),
        (value, column_type) => Err(mismatch(kind_name(column_type), value)),
    }
}

/// Elements of arrays and maps are always there.
fn element_value(value: NsonView<'_>, column_type: ColumnType) -> Given {
    match column_value(value, column_type)? {
        Value::Null => Err(wrong_kind(kind_name(column_type), value)),
        value => Ok(value),
    }
}

/// Fields are found by name, in any case of letters. Those that the record does not have are passed
/// over.
fn record(given: NsonFields<'_>, column_type: ColumnType) -> Given {
    let ColumnType::Record(fields) = column_type else { return Ok(Value::Null) };
    let mut members: Vec<(String, Value)> =
        fields.fields().iter().map(|field| (field.name.clone(), Value::Null)).collect();
    for (name, value) in given {
        let Some(place) = fields.field_index(name) else { continue };
        members[place].1 = column_value(value, fields.fields()[place].column_type)?;
    }
    Ok(Value::Record(members))
}

#[cold]
fn wrong_kind(kind: &str, value: NsonView<'_>) -> String {
    format!("Invalid driver type for {kind}: {}", value.kind_name())
}

#[cold]
fn mismatch(kind: &str, value: NsonView<'_>) -> String {
    format!("Type mismatch on input. Expected {kind}, got {}", value.kind_name())
}

#[cfg(test)]
mod tests {
    use tonnage::EnumSymbols;

    use super::*;

    fn refusal(value: NsonView<'_>, column_type: ColumnType) -> String {
        column_value(value, column_type).expect_err("it is refused")
    }

    #[test]
    fn whole_numbers_come_in_any_kind_that_loses_nothing() {
        let integer = ColumnType::Integer;
        for value in [
            NsonView::Integer(3),
            NsonView::Long(3),
            NsonView::Double(3.0),
            NsonView::Number("3"),
            NsonView::Number("3.0"),
            NsonView::String("3"),
        ] {
            assert_eq!(column_value(value, integer), Ok(Value::Integer(3)));
        }
        for (value, message) in [
            (NsonView::String("ab"), "Invalid string for Integer: ab"),
            (NsonView::Double(3.5), "Converting double to int loses information: 3.5"),
            (NsonView::Double(1e300), "Converting double to int loses information: 1e300"),
            (NsonView::Double(f64::NAN), "Converting double to int loses information: NaN"),
            (NsonView::Number("3.7"), "Int overflow: 3.7"),
            (NsonView::Long(1 << 40), "Int overflow: 1099511627776"),
            (NsonView::Boolean(true), "Invalid driver type for Integer: BOOLEAN"),
        ] {
            assert_eq!(refusal(value, integer), message);
        }
        let beyond = NsonView::Number("9223372036854775808");
        assert_eq!(refusal(beyond, ColumnType::Long), "Long overflow: 9223372036854775808");
    }

    #[test]
    fn doubles_and_floats_take_what_they_can_hold() {
        let double = ColumnType::Double;
        assert_eq!(column_value(NsonView::Number("0.1"), double), Ok(Value::Double(0.1)));
        assert_eq!(column_value(NsonView::String("1.5"), double), Ok(Value::Double(1.5)));
        assert_eq!(
            column_value(NsonView::Number("1E+400"), double),
            Ok(Value::Double(f64::INFINITY))
        );
        for (value, part) in [
            (NsonView::Long(9_007_199_254_740_993), "long to double loses information"),
            (NsonView::Long(i64::MAX), "long to double loses information"),
            (NsonView::Number("0.12345678901234567890"), "decimal to double loses information"),
            (NsonView::Boolean(true), "Invalid driver type for Double: BOOLEAN"),
        ] {
            assert!(refusal(value, double).contains(part), "{}", refusal(value, double));
        }
        let float = ColumnType::Float;
        for value in [NsonView::Double(1.1), NsonView::Number("1.1"), NsonView::String("1.1")] {
            assert_eq!(column_value(value, float), Ok(Value::Float(1.1)));
        }
        for value in [NsonView::Long(16_777_217), NsonView::Double(1e39), NsonView::Double(1e-50)] {
            assert!(refusal(value, float).contains("to float loses information"));
        }
    }

    #[test]
    fn text_is_text_and_symbols_are_those_of_their_type() {
        let string = ColumnType::String;
        assert_eq!(
            refusal(NsonView::Integer(1), string),
            "Type mismatch on input. Expected STRING, got INTEGER"
        );
        let colours = ColumnType::Enum(EnumSymbols::new(["red", "green"]).unwrap());
        assert!(column_value(NsonView::String("green"), colours).is_ok());
        assert_eq!(
            refusal(NsonView::String("RED"), colours),
            "Invalid enumeration value 'RED', must be in values: [red, green]"
        );
    }

    #[test]
    fn nulls_are_nulls_but_in_documents() {
        assert_eq!(column_value(NsonView::JsonNull, ColumnType::Long), Ok(Value::Null));
        let null = Ok(Value::Json("null".into()));
        assert_eq!(column_value(NsonView::Null, ColumnType::Json), null);
        assert!(refusal(NsonView::Double(f64::NAN), ColumnType::Json).contains("NaN"));
    }
}

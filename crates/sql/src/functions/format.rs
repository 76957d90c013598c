//! `format`, as PostgreSQL has it, and `printf`, as C and DuckDB have it.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type};
use datafusion::common::{Result, exec_err};
use tonnage::Value;

use super::scalar::{Arguments, Gives, Scalar, int, text_of};
use crate::errors::into_datafusion;

/// More would fill the memory with blanks.
const WIDTH_MAX: usize = 10_000;
/// What the texts of one batch may have together: a value may be in a format many times.
const BYTES_MAX: usize = 256 << 20;

pub(super) const ALL: [Scalar; 2] = [
    Scalar {
        name: "format",
        form: "format('%s and %s', a, b)",
        count: (1, 100),
        gives: Gives::Type(|| DataType::Utf8),
        work: |arguments| format_rows(arguments, write_postgres),
    },
    Scalar {
        name: "printf",
        form: "printf('%d: %s', a, b)",
        count: (1, 100),
        gives: Gives::Type(|| DataType::Utf8),
        work: |arguments| format_rows(arguments, write_c),
    },
];

type Writer = fn(&Arguments, &FormatSpecifier, usize) -> Result<Option<String>>;

/// A placeholder in a format, `%[position$][flags][width][.digits]letter`.
#[derive(Debug, Default, PartialEq)]
struct FormatSpecifier {
    argument: usize,
    is_left: bool,
    is_zero: bool,
    is_signed: bool,
    width: usize,
    digits: Option<usize>,
    letter: char,
}

fn format_rows(arguments: &Arguments, write: Writer) -> Result<ArrayRef> {
    let formats = arguments.texts(0)?;
    let mut bytes_left = BYTES_MAX;
    arguments.map_text(|row| {
        let Some(format) = text_of(&formats, row) else { return Ok(None) };
        let text = format_row(arguments, format, row, write, bytes_left)?;
        bytes_left -= text.as_ref().map_or(0, String::len).min(bytes_left);
        Ok(text)
    })
}

fn format_row(
    arguments: &Arguments,
    format: &str,
    row: usize,
    write: Writer,
    bytes_max: usize,
) -> Result<Option<String>> {
    let (mut text, mut rest, mut next) = (String::new(), format, 1);
    while let Some((before, after)) = rest.split_once('%') {
        text.push_str(before);
        if let Some(after) = after.strip_prefix('%') {
            text.push('%');
            rest = after;
            continue;
        }
        let Some((mut place, after)) = parse_specifier(after) else {
            return exec_err!(
                "{}: a % is at the end of '{format}': write %% for the sign",
                arguments.name
            );
        };
        // Argument 0 is the format itself, so it marks a placeholder without a position.
        if place.argument == 0 {
            place.argument = next;
        }
        // As in PostgreSQL, the next placeholder takes the argument after the one used last.
        next = place.argument + 1;
        if place.argument >= arguments.arrays.len() {
            return exec_err!(
                "{}: '{format}' has more places than there are values",
                arguments.name
            );
        }
        match write(arguments, &place, row)? {
            Some(value) => text.push_str(&pad(&value, &place)),
            None => return Ok(None),
        }
        if text.len() > bytes_max {
            return exec_err!("{}: this is too long: of {BYTES_MAX} bytes at most", arguments.name);
        }
        rest = after;
    }
    text.push_str(rest);
    Ok(Some(text))
}

fn parse_specifier(mut rest: &str) -> Option<(FormatSpecifier, &str)> {
    let mut place = FormatSpecifier::default();
    let number = |rest: &str| {
        let end = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
        (rest[..end].parse::<usize>().ok(), end)
    };
    // Only a `$` after it makes a number a position. Without one it stays, as a width or a flag.
    if let (Some(position), end) = number(rest)
        && let Some(after) = rest[end..].strip_prefix('$')
    {
        (place.argument, rest) = (position, after);
    }
    while let Some(flag @ ('-' | '0' | '+' | ' ' | '#')) = rest.chars().next() {
        place.is_left |= flag == '-';
        place.is_zero |= flag == '0';
        place.is_signed |= flag == '+';
        rest = &rest[1..];
    }
    if let (Some(width), end) = number(rest) {
        (place.width, rest) = (width.min(WIDTH_MAX), &rest[end..]);
    }
    if let Some(after) = rest.strip_prefix('.') {
        let (digits, end) = number(after);
        (place.digits, rest) = (Some(digits.unwrap_or(0).min(WIDTH_MAX)), &after[end..]);
    }
    // How long a number is makes no difference.
    rest = rest.trim_start_matches(['l', 'h']);
    let letter = rest.chars().next()?;
    place.letter = letter;
    Some((place, &rest[letter.len_utf8()..]))
}

fn pad(text: &str, place: &FormatSpecifier) -> String {
    let missing = place.width.saturating_sub(text.chars().count());
    let is_number = !matches!(place.letter, 's' | 'I' | 'L' | 'c');
    if place.is_left {
        return format!("{text}{}", " ".repeat(missing));
    }
    if place.is_zero && is_number {
        let (sign, digits) = match text.strip_prefix(['-', '+']) {
            Some(digits) => text.split_at(text.len() - digits.len()),
            None => ("", text),
        };
        return format!("{sign}{}{digits}", "0".repeat(missing));
    }
    format!("{}{text}", " ".repeat(missing))
}

/// The value as it shows, unless it is NULL.
fn value_text(
    arguments: &Arguments,
    place: &FormatSpecifier,
    row: usize,
) -> Result<Option<String>> {
    let (array, field) = (&arguments.arrays[place.argument], &arguments.fields[place.argument]);
    if array.is_null(row) || *array.data_type() == DataType::Null {
        return Ok(None);
    }
    match Value::from_array(array.as_ref(), field, row) {
        Ok(Value::Null) => Ok(None),
        Ok(value) => Ok(Some(value.to_string())),
        Err(error) => Err(into_datafusion(error)),
    }
}

/// `%s`, `%I` and `%L`: a value, a name in quotes where it needs them, and a literal.
fn write_postgres(
    arguments: &Arguments,
    place: &FormatSpecifier,
    row: usize,
) -> Result<Option<String>> {
    let value = value_text(arguments, place, row)?;
    match (place.letter, value) {
        ('s', value) => Ok(Some(value.unwrap_or_default())),
        ('L', None) => Ok(Some("NULL".to_owned())),
        ('L', Some(value)) => Ok(Some(format!("'{}'", value.replace('\'', "''")))),
        ('I', Some(name)) => {
            let is_plain = name
                .starts_with(|letter: char| letter.is_ascii_lowercase() || letter == '_')
                && name.chars().all(|letter| {
                    letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_'
                });
            let quoted = || format!("\"{}\"", name.replace('"', "\"\""));
            Ok(Some(if is_plain { name.clone() } else { quoted() }))
        }
        ('I', None) => exec_err!("format: a name for %I is NULL"),
        (letter, _) => exec_err!(
            "format takes %s, %I and %L, not %{letter}: write printf for %d and %f, or to_char"
        ),
    }
}

/// `%d`, `%f`, `%s` and the like.
fn write_c(arguments: &Arguments, place: &FormatSpecifier, row: usize) -> Result<Option<String>> {
    let array = &arguments.arrays[place.argument];
    let whole = || match array.data_type().is_integer() || array.data_type().is_null() {
        true => int(array, row),
        false => exec_err!(
            "printf: %{} takes a whole number, not {}: cast it",
            place.letter,
            array.data_type()
        ),
    };
    let double = || -> Result<Option<f64>> {
        if !array.data_type().is_numeric() && !array.data_type().is_null() {
            return exec_err!(
                "printf: %{} takes a number, not {}: cast it",
                place.letter,
                array.data_type()
            );
        }
        // One row is cast, not the column: each row may have a format of its own.
        let one = cast(&array.slice(row, 1), &DataType::Float64)?;
        let one = one.as_primitive::<Float64Type>();
        Ok(one.is_valid(0).then(|| one.value(0)))
    };
    let signed = |text: String| match place.is_signed && !text.starts_with('-') {
        true => format!("+{text}"),
        false => text,
    };
    // C prints six digits where a format names none.
    let digits = place.digits.unwrap_or(6);
    Ok(match place.letter {
        's' => value_text(arguments, place, row)?.map(|text| match place.digits {
            Some(most) => text.chars().take(most).collect(),
            None => text,
        }),
        'd' | 'i' | 'u' => whole()?.map(|number| signed(number.to_string())),
        'x' => whole()?.map(|number| format!("{number:x}")),
        'X' => whole()?.map(|number| format!("{number:X}")),
        'o' => whole()?.map(|number| format!("{number:o}")),
        'c' => match array.data_type().is_integer() {
            true => whole()?
                .and_then(|number| char::from_u32(u32::try_from(number).ok()?))
                .map(String::from),
            false => value_text(arguments, place, row)?.map(|text| text.chars().take(1).collect()),
        },
        'f' | 'F' => double()?.map(|number| signed(format!("{number:.digits$}"))),
        'e' | 'E' => double()?.map(|number| signed(exponent(number, digits, place.letter))),
        letter => {
            return exec_err!("printf takes %d, %x, %o, %c, %f, %e and %s, not %{letter}");
        }
    })
}

/// `1.500000e+01`
fn exponent(number: f64, digits: usize, letter: char) -> String {
    let text = format!("{number:.digits$e}");
    match text.split_once('e') {
        Some((number, power)) => {
            let (sign, power) = match power.strip_prefix('-') {
                Some(power) => ('-', power),
                None => ('+', power),
            };
            format!("{number}{letter}{sign}{power:0>2}")
        }
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read() {
        let (place, rest) = parse_specifier("2$-8.3f,").unwrap();
        assert_eq!(rest, ",");
        assert_eq!(
            place,
            FormatSpecifier {
                argument: 2,
                is_left: true,
                width: 8,
                digits: Some(3),
                letter: 'f',
                ..FormatSpecifier::default()
            }
        );
        assert!(parse_specifier("").is_none() && parse_specifier("5").is_none());
    }

    #[test]
    fn numbers_are_padded_after_their_sign() {
        let place =
            FormatSpecifier { is_zero: true, width: 5, letter: 'd', ..FormatSpecifier::default() };
        assert_eq!(pad("-42", &place), "-0042");
        assert_eq!(exponent(15.0, 2, 'e'), "1.50e+01");
    }
}

//! Guesses the type of a column from its values, one after another.
//!
//! | all values are | type |
//! |---|---|
//! | whole numbers that fit 64 bits, without leading zeros or a plus | Int64 |
//! | such numbers and others with a point or an exponent, none of which a double would round |
//! Float64 |
//! | the same, some of which a double would round | Decimal128 if 38 digits hold all of them,
//! Decimal256 if 76 do |
//! | `true` or `false` | Boolean |
//! | points in time with a time of day | Timestamp in seconds, milliseconds, microseconds or
//! nanoseconds, as their fractions need |
//! | JSON objects or arrays, or JSON values of several kinds | Utf8 marked as JSON |
//! | anything else, or nothing at all | Utf8 |
//!
//! The resulting type holds every value that was seen, and changes none.

use std::collections::HashMap;

use arrow::datatypes::{
    DECIMAL128_MAX_PRECISION, DECIMAL256_MAX_PRECISION, DataType, Field, TimeUnit,
};

use crate::other_forms::{FormCounts, FormMeaning};
use crate::text::block::{Cell, CellKind};
use crate::text::decimal::DecimalDigits;
use crate::text::scalar;
use crate::text::timestamp::{self, ParsedInstant};
use crate::value_kinds::{KindCounts, ValueKind, ValuePlace};
use crate::{TYPE_JSON, TYPE_KEY};

/// Words that often stand where a value is missing.
pub(crate) const NULL_WORDS: [&str; 10] =
    ["NA", "N/A", "n/a", "na", "NULL", "null", "None", "\\N", "-", "?"];

/// What was seen of a column.
#[derive(Clone, Debug, Default)]
pub(crate) struct TypeGuess {
    whole: bool,
    fractional: bool,
    /// `NaN` or `inf`, which are numbers only in company.
    unusual: bool,
    /// A whole number that 64 bits do not hold.
    long: bool,
    /// A number that a double would round.
    rounded: bool,
    /// The most digits before and after the point.
    digits_before: u32,
    digits_behind: u32,
    boolean: bool,
    time: bool,
    /// Days without a time of day.
    date: bool,
    fraction_digits: u32,
    /// The first and last second of all points in time.
    seconds: Option<(i64, i64)>,
    nested: bool,
    text: bool,
    /// JSON says what a string is and what not.
    string: bool,
    is_json: bool,
    is_csv: bool,
    /// Which of the [`NULL_WORDS`] were seen.
    null_words: u16,
    /// What the values of CSV read as.
    kinds: KindCounts,
    /// Those of its texts that mean something else.
    forms: FormCounts,
}

impl TypeGuess {
    pub(crate) fn observe(&mut self, cell: Cell, text: &[u8]) {
        self.see(cell, text);
    }

    /// Like the above, and remembers the position of a value that turns the column into text.
    pub(crate) fn observe_at(&mut self, cell: Cell, text: &[u8], place: impl Fn() -> ValuePlace) {
        // Nothing makes another type of it.
        if self.text && self.kinds.has_no_outlier() {
            return;
        }
        if let Some(kind) = self.see(cell, text) {
            if kind == ValueKind::Text {
                self.forms.see(text.trim_ascii(), &place);
            }
            self.kinds.count(kind, place);
        }
    }

    /// What the value reads as, unless it may be of several kinds.
    fn see(&mut self, cell: Cell, text: &[u8]) -> Option<ValueKind> {
        match cell.kind() {
            CellKind::Missing => return None,
            kind if kind.is_csv() => self.is_csv = true,
            _ => self.is_json = true,
        }
        match cell.kind() {
            CellKind::Missing => None,
            CellKind::Number => Some(self.see_number(text)),
            CellKind::Bool => Some(self.see_boolean()),
            CellKind::Nested => {
                self.nested = true;
                None
            }
            CellKind::String | CellKind::StringEscaped => {
                self.string = true;
                // A string of JSON is not a number, whatever its letters are.
                let may_be_time =
                    cell.kind() == CellKind::String && text.first().is_some_and(u8::is_ascii_digit);
                Some(if may_be_time { self.see_time(text) } else { self.see_words() })
            }
            // Blanks around a value count only within quotes.
            CellKind::Plain => self.see_text(text.trim_ascii()),
            CellKind::PlainEscaped | CellKind::Quoted | CellKind::QuotedEscaped => {
                self.see_text(text)
            }
        }
    }

    fn see_text(&mut self, text: &[u8]) -> Option<ValueKind> {
        let digits = text.strip_prefix(b"-").unwrap_or(text);
        Some(match digits {
            [b'0'..=b'9', ..] if is_number(digits) => self.see_number(text),
            [b'.', b'0'..=b'9', ..] if scalar::double(text).is_ok() => self.see_number(text),
            [b'0'..=b'9', ..] => self.see_time(text),
            b"NaN" | b"nan" | b"inf" => {
                self.unusual = true;
                return None;
            }
            _ if text.eq_ignore_ascii_case(b"true") || text.eq_ignore_ascii_case(b"false") => {
                self.see_boolean()
            }
            _ => match NULL_WORDS.iter().position(|word| word.as_bytes() == text) {
                Some(word) => {
                    self.null_words |= 1 << word;
                    return None;
                }
                None => self.see_words(),
            },
        })
    }

    fn see_words(&mut self) -> ValueKind {
        self.text = true;
        ValueKind::Text
    }

    fn see_boolean(&mut self) -> ValueKind {
        self.boolean = true;
        ValueKind::Boolean
    }

    fn see_number(&mut self, text: &[u8]) -> ValueKind {
        match scalar::integer::<i64>(text) {
            Ok(_) => self.whole = true,
            Err(_) if text.iter().all(|byte| byte.is_ascii_digit() || *byte == b'-') => {
                self.long = true
            }
            Err(_) => self.fractional = true,
        }
        match DecimalDigits::of(text) {
            Some(digits) => {
                self.digits_before = self.digits_before.max(digits.integer_digits());
                self.digits_behind = self.digits_behind.max(digits.fraction_digits());
                let has_exponent = text.iter().any(|byte| matches!(byte, b'e' | b'E'));
                self.rounded |= match has_exponent {
                    true => !digits.fit_double(),
                    false => !digits.plain_fit_double(),
                };
                ValueKind::Number
            }
            None => self.see_words(),
        }
    }

    fn see_time(&mut self, text: &[u8]) -> ValueKind {
        match timestamp::parse(text) {
            // A date counts days in 32 bits.
            Some(instant) if !instant.has_time => {
                match i32::try_from(instant.seconds.div_euclid(timestamp::DAY_SECONDS)) {
                    Ok(_) => {
                        self.date = true;
                        ValueKind::Date
                    }
                    Err(_) => self.see_words(),
                }
            }
            Some(instant) => {
                self.time = true;
                self.fraction_digits = self.fraction_digits.max(instant.fraction_digits);
                let (first, last) = self.seconds.unwrap_or((instant.seconds, instant.seconds));
                self.seconds = Some((first.min(instant.seconds), last.max(instant.seconds)));
                ValueKind::Time
            }
            _ => self.see_words(),
        }
    }

    /// Adds what was seen of the same column elsewhere.
    pub(crate) fn merge(&mut self, other: &TypeGuess) {
        self.whole |= other.whole;
        self.fractional |= other.fractional;
        self.unusual |= other.unusual;
        self.long |= other.long;
        self.rounded |= other.rounded;
        self.digits_before = self.digits_before.max(other.digits_before);
        self.digits_behind = self.digits_behind.max(other.digits_behind);
        self.boolean |= other.boolean;
        self.time |= other.time;
        self.date |= other.date;
        self.fraction_digits = self.fraction_digits.max(other.fraction_digits);
        self.seconds = match (self.seconds, other.seconds) {
            (Some((first, last)), Some((other_first, other_last))) => {
                Some((first.min(other_first), last.max(other_last)))
            }
            (one, other) => one.or(other),
        };
        self.nested |= other.nested;
        self.text |= other.text;
        self.string |= other.string;
        self.is_json |= other.is_json;
        self.is_csv |= other.is_csv;
        self.null_words |= other.null_words;
        self.kinds.merge(&other.kinds);
        self.forms.merge(&other.forms);
    }

    /// The field that takes all values.
    pub(crate) fn field(&self, name: &str) -> Field {
        let data_type = match self.null_words {
            0 => self.data_type(),
            _ => DataType::Utf8,
        };
        if !self.is_csv && (self.nested || self.kinds_of_json() > 1) {
            return json_field(name);
        }
        Field::new(name, data_type, true)
    }

    /// Words that seem to mean NULL, and the type of the column if they do.
    pub(crate) fn null_words(&self) -> Option<(Vec<&'static str>, DataType)> {
        let data_type = self.data_type();
        if self.null_words == 0 || data_type == DataType::Utf8 {
            return None;
        }
        let words =
            NULL_WORDS.iter().enumerate().filter(|(index, _)| self.null_words & 1 << index != 0);
        Some((words.map(|(_, word)| *word).collect(), data_type))
    }

    /// The first of few values that make text of the column, and its type without them.
    pub(crate) fn outlier(&self) -> Option<(&ValuePlace, DataType)> {
        // The values of JSON are not counted.
        if self.is_json || self.data_type() != DataType::Utf8 {
            return None;
        }
        if self.other_form().is_some() {
            return None;
        }
        let (kind, place) = self.kinds.outlier()?;
        let has_numbers = kind == ValueKind::Number;
        // Numbers among which some begin with a zero are codes, which are text for a reason.
        if has_numbers && place.value.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let usual = TypeGuess {
            whole: has_numbers && self.whole,
            fractional: has_numbers && self.fractional,
            long: has_numbers && self.long,
            boolean: kind == ValueKind::Boolean,
            time: kind == ValueKind::Time,
            date: kind == ValueKind::Date,
            text: false,
            ..self.clone()
        };
        // Numbers may be text all the same, such as those with more digits than any type holds.
        let data_type = usual.data_type();
        (data_type != DataType::Utf8).then_some((place, data_type))
    }

    /// What all texts of the column mean, if they are dates or numbers in another form, and the
    /// first of them.
    pub(crate) fn other_form(&self) -> Option<(&ValuePlace, FormMeaning)> {
        let seen = |kind| self.kinds.of_kind(kind);
        let texts = seen(ValueKind::Text);
        let has_dates = seen(ValueKind::Date) > 0;
        if self.is_json || texts == 0 || seen(ValueKind::Boolean) + seen(ValueKind::Time) > 0 {
            return None;
        }
        self.forms.meaning(texts, has_dates, seen(ValueKind::Number) > 0)
    }

    /// Whether some of its numbers would be rounded if they became doubles.
    pub(crate) fn has_more_digits_than_a_double(&self) -> bool {
        self.rounded || self.long
    }

    fn is_number(&self) -> bool {
        self.whole || self.fractional || self.long
    }

    fn kinds_of_json(&self) -> usize {
        [self.is_number(), self.boolean, self.nested, self.string]
            .iter()
            .filter(|seen| **seen)
            .count()
    }

    fn data_type(&self) -> DataType {
        let kinds = [self.is_number(), self.boolean, self.time, self.date, self.nested, self.text];
        if kinds.iter().filter(|seen| **seen).count() != 1 || self.text {
            return DataType::Utf8;
        }
        match self {
            TypeGuess { boolean: true, unusual: false, .. } => DataType::Boolean,
            TypeGuess { time: true, unusual: false, .. } => self.timestamp(),
            TypeGuess { date: true, unusual: false, .. } => DataType::Date32,
            _ if !self.is_number() => DataType::Utf8,
            // Digits that 64 bits do not hold are more often names than quantities, but in JSON
            // they are numbers.
            TypeGuess { long: true, is_csv: true, .. } => DataType::Utf8,
            TypeGuess { fractional: false, unusual: false, long: false, .. } => DataType::Int64,
            TypeGuess { rounded: false, long: false, .. } => DataType::Float64,
            TypeGuess { unusual: true, .. } => DataType::Utf8,
            _ => self.decimal(),
        }
    }

    fn decimal(&self) -> DataType {
        let behind = self.digits_behind as i8;
        match self.digits_before.saturating_add(self.digits_behind) {
            0..=38 => DataType::Decimal128(DECIMAL128_MAX_PRECISION, behind),
            39..=76 => DataType::Decimal256(DECIMAL256_MAX_PRECISION, behind),
            _ => DataType::Utf8,
        }
    }

    /// The unit that the fractions need, unless it cannot count as far as the points in time reach.
    fn timestamp(&self) -> DataType {
        let unit = match self.fraction_digits {
            0 => TimeUnit::Second,
            1..=3 => TimeUnit::Millisecond,
            4..=6 => TimeUnit::Microsecond,
            _ => TimeUnit::Nanosecond,
        };
        let (first, last) = self.seconds.unwrap_or_default();
        // A second more holds whatever fraction belongs to the last.
        let reaches = |seconds: i64| {
            let instant =
                ParsedInstant { seconds, nanoseconds: 0, fraction_digits: 0, has_time: true };
            timestamp::to_ticks(instant, unit).is_ok()
        };
        if reaches(first) && reaches(last.saturating_add(1)) {
            DataType::Timestamp(unit, None)
        } else {
            DataType::Utf8
        }
    }
}

/// Whether the name of a column reads as a value: a number, a date, a timestamp, true or false.
pub(crate) fn reads_as_value(name: &str) -> bool {
    let mut guess = TypeGuess::default();
    guess.observe(Cell::new(0, name.len(), CellKind::Plain), name.as_bytes());
    guess.field(name).data_type() != &DataType::Utf8
}

/// Digits that are meant as a number: no zero leads them, as it does in postal codes and the like.
fn is_number(digits: &[u8]) -> bool {
    let leading_zero = digits.len() > 1 && digits[0] == b'0' && digits[1].is_ascii_digit();
    !leading_zero
        && digits.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-'))
        && scalar::double(digits).is_ok()
}

pub(crate) fn json_field(name: &str) -> Field {
    Field::new(name, DataType::Utf8, true)
        .with_metadata(HashMap::from([(TYPE_KEY.to_owned(), TYPE_JSON.to_owned())]))
}

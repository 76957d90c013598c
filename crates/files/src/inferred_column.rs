//! The inferred type of a column, from one file or from several that become one table.

use arrow::datatypes::{DataType, Field, TimeUnit};

use crate::type_guess::TypeGuess;
use crate::type_name::is_json_field;
use crate::value_kinds::ValuePlace;

/// A column that would be of another type if some words in it meant NULL.
#[derive(Clone, Debug, PartialEq)]
pub struct NullWords {
    /// The column.
    pub column: String,
    /// The words.
    pub words: Vec<&'static str>,
    /// What the column would hold without them.
    pub data_type: DataType,
}

/// A column that is text because of a few values, though nine tenths of those of the sample and
/// more read as another type.
#[derive(Clone, Debug, PartialEq)]
pub struct Outlier {
    /// The column.
    pub column: String,
    /// The file of the first such value.
    pub source: String,
    /// The line on which its record begins, from 1.
    pub line: u64,
    /// Its first 40 characters.
    pub value: String,
    /// What the column would hold without them.
    pub data_type: DataType,
}

/// What is known of a column's type.
pub(crate) enum InferredColumn {
    /// Its values were looked at.
    Guessed(Box<TypeGuess>),
    /// The file says what it holds.
    Declared(Field),
}

impl InferredColumn {
    pub(crate) fn field(&self, name: &str) -> Field {
        match self {
            InferredColumn::Guessed(guess) => guess.field(name),
            InferredColumn::Declared(field) => field.clone().with_name(name),
        }
    }

    pub(crate) fn null_words(&self, name: &str) -> Option<NullWords> {
        let InferredColumn::Guessed(guess) = self else { return None };
        let (words, data_type) = guess.null_words()?;
        Some(NullWords { column: name.to_owned(), words, data_type })
    }

    pub(crate) fn outlier(&self, name: &str) -> Option<Outlier> {
        let InferredColumn::Guessed(guess) = self else { return None };
        let (place, data_type) = guess.outlier()?;
        let ValuePlace { source, line, value } = place.clone();
        Some(Outlier { column: name.to_owned(), source, line, value, data_type })
    }

    /// Adds what another file says of the column.
    pub(crate) fn merge(&mut self, name: &str, other: &InferredColumn) {
        match (&mut *self, other) {
            (InferredColumn::Guessed(known), InferredColumn::Guessed(other)) => known.merge(other),
            (InferredColumn::Guessed(guess), InferredColumn::Declared(field))
                if rounds(guess, field) =>
            {
                *self = InferredColumn::Declared(text(name))
            }
            (InferredColumn::Declared(field), InferredColumn::Guessed(guess))
                if rounds(guess, field) =>
            {
                *self = InferredColumn::Declared(text(name))
            }
            _ => *self = InferredColumn::Declared(wider(&self.field(name), &other.field(name))),
        }
    }
}

/// Whether a floating-point column would change some of the numbers that were seen.
fn rounds(guess: &TypeGuess, field: &Field) -> bool {
    field.data_type().is_floating() && guess.has_more_digits_than_a_double()
}

fn text(name: &str) -> Field {
    Field::new(name, DataType::Utf8, true)
}

/// The field that holds the values of both.
fn wider(a: &Field, b: &Field) -> Field {
    use DataType::{Float32, Float64, Int8, Int16, Int32, Int64, Timestamp, UInt8, UInt16, UInt32};
    let is_whole = |data_type: &DataType| {
        matches!(data_type, Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32)
    };
    let is_number =
        |data_type: &DataType| is_whole(data_type) || matches!(data_type, Float32 | Float64);
    let data_type = match (a.data_type(), b.data_type()) {
        (one, other) if one == other && is_json_field(a) == is_json_field(b) => return a.clone(),
        (one, other) if is_whole(one) && is_whole(other) => Int64,
        (one, other) if is_number(one) && is_number(other) => Float64,
        (Timestamp(one, _), Timestamp(other, _)) => {
            Timestamp(if digits(*one) > digits(*other) { *one } else { *other }, None)
        }
        _ => return text(a.name()),
    };
    Field::new(a.name(), data_type, true)
}

fn digits(unit: TimeUnit) -> u32 {
    match unit {
        TimeUnit::Second => 0,
        TimeUnit::Millisecond => 3,
        TimeUnit::Microsecond => 6,
        TimeUnit::Nanosecond => 9,
    }
}

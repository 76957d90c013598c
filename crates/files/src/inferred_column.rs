//! The inferred type of a column, from one file or from several that become one table.

use arrow::datatypes::{DataType, Field, TimeUnit};

use crate::other_forms::OtherForm;
use crate::type_guess::TypeGuess;
use crate::value_kinds::ValuePlace;
use crate::wider_type::{WiderType, wider};

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
    /// Files say different things, and only the values tell which type holds all of them.
    Clashing(Clash),
}

/// Types that no type holds whatever the values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clash {
    Numbers,
    Moments(TimeUnit),
}

impl InferredColumn {
    pub(crate) fn field(&self, name: &str) -> Field {
        match self {
            InferredColumn::Guessed(guess) => guess.field(name),
            // A column that never had a value: any type would do.
            InferredColumn::Declared(field) if field.data_type() == &DataType::Null => text(name),
            InferredColumn::Declared(field) => field.clone().with_name(name),
            InferredColumn::Clashing(_) => text(name),
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

    pub(crate) fn other_form(&self, name: &str) -> Option<OtherForm> {
        let InferredColumn::Guessed(guess) = self else { return None };
        let (place, meaning) = guess.other_form()?;
        let ValuePlace { source, line, value } = place.clone();
        Some(OtherForm { column: name.to_owned(), source, line, value, meaning })
    }

    /// What has to be decided by the values.
    pub(crate) fn clash(&self) -> Option<Clash> {
        match self {
            InferredColumn::Clashing(clash) => Some(*clash),
            _ => None,
        }
    }

    /// The column once the values of all files were looked at.
    pub(crate) fn decided(clash: Clash, name: &str, values: TypeGuess) -> InferredColumn {
        match clash {
            Clash::Numbers => InferredColumn::Guessed(Box::new(values)),
            // Text, if some reach farther than the unit does.
            Clash::Moments(unit) => {
                InferredColumn::Declared(match values.field(name).data_type() {
                    DataType::Timestamp(..) => {
                        Field::new(name, DataType::Timestamp(unit, None), true)
                    }
                    _ => text(name),
                })
            }
        }
    }

    /// Adds what another file says of the column.
    pub(crate) fn merge(&mut self, name: &str, other: &InferredColumn) {
        use InferredColumn::{Clashing, Declared, Guessed};
        let is_null = |field: &Field| field.data_type() == &DataType::Null;
        match (&mut *self, other) {
            (Guessed(known), Guessed(other)) => known.merge(other),
            // A column that never had a value says nothing of its type.
            (Guessed(_) | Clashing(_), Declared(field)) if is_null(field) => {}
            (Declared(field), Guessed(other)) if is_null(field) => *self = Guessed(other.clone()),
            (Guessed(guess), Declared(field)) if rounds(guess, field) => {
                *self = Declared(text(name))
            }
            (Declared(field), Guessed(guess)) if rounds(guess, field) => {
                *self = Declared(text(name))
            }
            (Clashing(clash), Declared(field)) => {
                if !clash.takes(field.data_type()) {
                    *self = Declared(text(name));
                }
            }
            (Declared(known), Declared(field)) => *self = both(known, field),
            (Clashing(_), _) | (_, Clashing(_)) => *self = Declared(text(name)),
            // Values of text that were seen, and a type: no values are asked for again.
            _ => {
                *self = match both(&self.field(name), &other.field(name)) {
                    Clashing(Clash::Numbers) => Declared(Field::new(name, DataType::Float64, true)),
                    Clashing(Clash::Moments(unit)) => {
                        Declared(Field::new(name, DataType::Timestamp(unit, None), true))
                    }
                    column => column,
                }
            }
        }
    }
}

impl Clash {
    /// Whether values of a type leave the question as it is.
    fn takes(self, data_type: &DataType) -> bool {
        match self {
            Clash::Numbers => data_type.is_numeric(),
            Clash::Moments(_) => matches!(data_type, DataType::Timestamp(..) | DataType::Date64),
        }
    }
}

fn both(known: &Field, other: &Field) -> InferredColumn {
    match wider(known, other) {
        WiderType::Field(field) => InferredColumn::Declared(field),
        WiderType::OfNumbers => InferredColumn::Clashing(Clash::Numbers),
        WiderType::OfMoments(unit) => InferredColumn::Clashing(Clash::Moments(unit)),
    }
}

/// Whether a floating-point column would change some of the numbers that were seen.
fn rounds(guess: &TypeGuess, field: &Field) -> bool {
    field.data_type().is_floating() && guess.has_more_digits_than_a_double()
}

fn text(name: &str) -> Field {
    Field::new(name, DataType::Utf8, true)
}

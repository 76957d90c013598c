//! Dates and numbers in forms that are not read: `03.02.1990`, `3/2/1990`, `2,5`, `1.234,50`.
//!
//! Which of two numbers is the month, and whether a comma parts digits or fractions, nobody can
//! tell for certain. So such columns are text, but their form is told, with what reads it.

use crate::value_kinds::ValuePlace;

/// A column of CSV that is text because its values have another form than the one that is read.
#[derive(Clone, Debug, PartialEq)]
pub struct OtherForm {
    /// The column.
    pub column: String,
    /// The file of the first such value.
    pub source: String,
    /// The line on which its record begins, from 1.
    pub line: u64,
    /// Its first 40 characters.
    pub value: String,
    /// What the values seem to mean.
    pub meaning: FormMeaning,
}

/// What values of another form seem to mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FormMeaning {
    /// Dates of this form, as `to_date` takes it, and whether others of the column are written as
    /// they should be.
    Dates {
        /// Such as `%d.%m.%Y`.
        format: String,
        /// Whether the month may come first as well.
        is_ambiguous: bool,
        /// Whether the column has dates as they are read, too.
        has_others: bool,
    },
    /// Numbers with a decimal comma, and perhaps points between thousands.
    Numbers {
        /// Whether some have points.
        has_points: bool,
    },
}

/// How many values of a column have which of the forms.
#[derive(Clone, Debug, Default)]
pub(crate) struct FormCounts {
    dates: u64,
    /// The character between day, month and year; nothing once there were two.
    separator: Option<u8>,
    mixes_separators: bool,
    is_short_year: bool,
    /// Whether a first or a second number was too large for a month.
    first_is_day: bool,
    second_is_day: bool,
    numbers: u64,
    has_points: bool,
    first: Option<ValuePlace>,
}

impl FormCounts {
    /// Looks at a value that reads as text.
    pub(crate) fn see(&mut self, text: &[u8], place: impl FnOnce() -> ValuePlace) {
        if let Some(date) = PlainDate::of(text) {
            self.dates += 1;
            self.mixes_separators |= self.separator.is_some_and(|own| own != date.separator);
            self.separator = Some(date.separator);
            self.is_short_year |= date.is_short_year;
            self.first_is_day |= date.first > 12;
            self.second_is_day |= date.second > 12;
        } else if let Some(has_point) = comma_number(text) {
            self.numbers += 1;
            self.has_points |= has_point;
        } else {
            return;
        }
        self.first.get_or_insert_with(place);
    }

    pub(crate) fn merge(&mut self, other: &FormCounts) {
        self.dates += other.dates;
        let separators = (self.separator, other.separator);
        self.mixes_separators |= other.mixes_separators
            || matches!(separators, (Some(own), Some(other)) if own != other);
        self.separator = self.separator.or(other.separator);
        self.is_short_year |= other.is_short_year;
        self.first_is_day |= other.first_is_day;
        self.second_is_day |= other.second_is_day;
        self.numbers += other.numbers;
        self.has_points |= other.has_points;
        if self.first.is_none() {
            self.first.clone_from(&other.first);
        }
    }

    /// What all values of a column that read as text mean, of which there are so many, and the
    /// first of them. `dates` and `numbers` say what else was seen in the column.
    pub(crate) fn meaning(
        &self,
        texts: u64,
        dates: bool,
        numbers: bool,
    ) -> Option<(&ValuePlace, FormMeaning)> {
        let first = self.first.as_ref()?;
        if self.dates == texts && !numbers {
            return Some((first, self.dates_as(dates)?));
        }
        let is_number = self.numbers == texts && !dates;
        is_number.then_some((first, FormMeaning::Numbers { has_points: self.has_points }))
    }

    fn dates_as(&self, has_others: bool) -> Option<FormMeaning> {
        // No form says both, and of a 13th month no number is one.
        if self.mixes_separators || (self.first_is_day && self.second_is_day) {
            return None;
        }
        let separator = char::from(self.separator?);
        let year = if self.is_short_year { "%y" } else { "%Y" };
        let (first, second) = if self.second_is_day { ("%m", "%d") } else { ("%d", "%m") };
        Some(FormMeaning::Dates {
            format: [first, second, year].join(&separator.to_string()),
            // With points the day comes first everywhere.
            is_ambiguous: separator != '.' && !self.first_is_day && !self.second_is_day,
            has_others,
        })
    }
}

/// Three numbers of which the last may be a year.
struct PlainDate {
    first: u8,
    second: u8,
    separator: u8,
    is_short_year: bool,
}

impl PlainDate {
    fn of(text: &[u8]) -> Option<PlainDate> {
        let separator = *text.iter().find(|byte| !byte.is_ascii_digit())?;
        if !b"./-".contains(&separator) {
            return None;
        }
        let mut parts = text.split(|byte| *byte == separator);
        let (first, second, year) = (parts.next()?, parts.next()?, parts.next()?);
        let all_digits =
            [first, second, year].iter().all(|part| part.iter().all(u8::is_ascii_digit));
        if parts.next().is_some() || !all_digits || !matches!(year.len(), 2 | 4) {
            return None;
        }
        let (first, second) = (small(first)?, small(second)?);
        // One of the two is a month.
        let is_date = (1..=31).contains(&first) && (1..=31).contains(&second);
        (is_date && first.min(second) <= 12).then_some(PlainDate {
            first,
            second,
            separator,
            is_short_year: year.len() == 2,
        })
    }
}

/// A number of one digit or two.
fn small(digits: &[u8]) -> Option<u8> {
    match digits {
        [one] => Some(one - b'0'),
        [ten, one] => Some((ten - b'0') * 10 + one - b'0'),
        _ => None,
    }
}

/// Whether a text is a number with a decimal comma, and if so, whether it has points between its
/// thousands.
fn comma_number(text: &[u8]) -> Option<bool> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let comma = digits.iter().position(|byte| *byte == b',')?;
    let (whole, fraction) = (&digits[..comma], &digits[comma + 1..]);
    if fraction.is_empty() || !fraction.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let mut groups = whole.split(|byte| *byte == b'.');
    let first = groups.next()?;
    let is_group = |group: &[u8]| group.iter().all(u8::is_ascii_digit);
    let mut has_points = false;
    for group in groups {
        has_points = true;
        if group.len() != 3 || !is_group(group) {
            return None;
        }
    }
    let is_whole = !first.is_empty() && is_group(first) && (!has_points || first.len() <= 3);
    is_whole.then_some(has_points)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meaning(values: &[&str]) -> Option<FormMeaning> {
        let mut counts = FormCounts::default();
        for value in values {
            counts.see(value.as_bytes(), || ValuePlace::new("a.csv", 2, value.as_bytes()));
        }
        counts.meaning(values.len() as u64, false, false).map(|(_, meaning)| meaning)
    }

    fn dates(format: &str, is_ambiguous: bool) -> Option<FormMeaning> {
        Some(FormMeaning::Dates { format: format.to_owned(), is_ambiguous, has_others: false })
    }

    #[test]
    fn dates_say_which_number_is_the_day() {
        assert_eq!(meaning(&["03.02.1990", "1.12.2001"]), dates("%d.%m.%Y", false));
        assert_eq!(meaning(&["3/2/1990"]), dates("%d/%m/%Y", true));
        assert_eq!(meaning(&["3/2/1990", "12/31/1990"]), dates("%m/%d/%Y", false));
        assert_eq!(meaning(&["3-2-90", "31-12-90"]), dates("%d-%m-%y", false));
        // No form fits all of them.
        assert_eq!(meaning(&["31/12/1990", "12/31/1990"]), None);
        assert_eq!(meaning(&["3/2/1990", "03.02.1990"]), None);
        for other in ["3.2.1", "0.2.1990", "13.13.1990", "1.2.3.4", "192.168.1990", "a.b.1990", ""]
        {
            assert_eq!(meaning(&[other]), None, "{other}");
        }
    }

    #[test]
    fn numbers_may_have_a_comma() {
        let numbers = |has_points| Some(FormMeaning::Numbers { has_points });
        assert_eq!(meaning(&["2,5", "-17,25"]), numbers(false));
        assert_eq!(meaning(&["2,5", "1.234.567,50"]), numbers(true));
        for other in ["2,", ",5", "1,234,567", "12.34,5", "1234.567,5", "a,b", "2,5 EUR"] {
            assert_eq!(meaning(&[other]), None, "{other}");
        }
    }

    #[test]
    fn words_among_them_make_text_of_them() {
        assert_eq!(meaning(&["03.02.1990", "unknown"]), None);
        assert_eq!(meaning(&["03.02.1990", "2,5"]), None);
        let mut counts = FormCounts::default();
        counts.see(b"2,5", || ValuePlace::new("a.csv", 2, b"2,5"));
        assert!(counts.meaning(1, true, false).is_none());
        assert!(counts.meaning(1, false, true).is_some());
    }
}

//! Items as bytes that are equal for equal items, for groups and distinct items.

use bigdecimal::BigDecimal;

use super::kinds::Item;
use super::text::{double_text, float_text};

/// The consecutive bytes of items.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct GroupForm(Vec<u8>);

impl GroupForm {
    pub(crate) fn of(item: &Item) -> Self {
        let mut form = Self::default();
        form.push(item);
        form
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Adds an item. Numbers of one value are equal, whatever their kind.
    pub(crate) fn push(&mut self, item: &Item) {
        match item {
            Item::Null => self.0.push(0),
            Item::JsonNull => self.0.push(1),
            Item::Boolean(truth) => self.0.extend([2, u8::from(*truth)]),
            Item::Integer(number) => self.whole((*number).into()),
            Item::Long(number) => self.whole(*number),
            Item::Float(number) => self.double((*number).into(), &float_text(*number)),
            Item::Double(number) => self.double(*number, &double_text(*number)),
            Item::Number(number) => self.decimal(number),
            Item::String(text) => self.sized(4, text.as_bytes()),
            Item::Binary(bytes) => self.sized(5, bytes),
            Item::Timestamp(instant) => {
                self.0.push(6);
                self.0.extend(instant.nanoseconds.to_be_bytes());
            }
            // The count keeps [[1], 2] and [[1, 2]] apart.
            Item::Array(items) => {
                self.0.push(7);
                self.0.extend(items.len().to_be_bytes());
                items.iter().for_each(|item| self.push(item));
            }
            Item::Map(members) | Item::Record(members) => {
                self.0.push(8);
                self.0.extend(members.len().to_be_bytes());
                // Maps are equal whatever the order of their members.
                let mut members: Vec<_> = members.iter().collect();
                members.sort_by(|one, other| one.0.cmp(&other.0));
                for (name, member) in members {
                    self.sized(4, name.as_bytes());
                    self.push(member);
                }
            }
        }
    }

    fn sized(&mut self, kind: u8, bytes: &[u8]) {
        self.0.push(kind);
        self.0.extend(bytes.len().to_be_bytes());
        self.0.extend(bytes);
    }

    fn whole(&mut self, number: i64) {
        self.0.push(3);
        self.0.extend(number.to_be_bytes());
    }

    fn double(&mut self, number: f64, text: &str) {
        let is_whole = number.fract() == 0.0 && number.abs() < 9_007_199_254_740_992.0;
        match text.parse::<BigDecimal>() {
            _ if is_whole => self.whole(number as i64),
            Ok(decimal) => self.decimal(&decimal),
            // Infinities and NaN.
            Err(_) => self.sized(9, text.as_bytes()),
        }
    }

    fn decimal(&mut self, number: &BigDecimal) {
        use bigdecimal::ToPrimitive;
        match number.to_i64().filter(|_| number.is_integer()) {
            Some(whole) => self.whole(whole),
            None => {
                let (digits, scale) = number.normalized().into_bigint_and_exponent();
                self.sized(10, format!("{digits}:{scale}").as_bytes());
            }
        }
    }
}

//! One row: names and values in order.

mod de;
mod ser;
mod serde_error;

use arrow::array::RecordBatch;
use tonnage_engine::Result;

use crate::value::Value;

/// Column names with their values, in the order in which they were given. Names are matched without
/// regard to ASCII case.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    fields: Vec<(String, Value)>,
}

impl Row {
    /// A row without values.
    pub fn new() -> Self {
        Self::default()
    }

    /// Room for `columns` values.
    pub fn with_capacity(columns: usize) -> Self {
        Self { fields: Vec::with_capacity(columns) }
    }

    /// The row with one more value, for building in one expression.
    ///
    /// ```
    /// use tonnage::Row;
    /// let phone = Row::new().with("maker", "Nokia").with("price", 300);
    /// assert_eq!(phone.get("PRICE"), Some(&300.into()));
    /// ```
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.set(name, value);
        self
    }

    /// Sets a value: over the one of that name, or as a further one.
    pub fn set(&mut self, name: &str, value: impl Into<Value>) {
        match self.get_mut(name) {
            Some(place) => *place = value.into(),
            None => self.fields.push((name.to_owned(), value.into())),
        }
    }

    /// The value of that name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.fields
            .iter()
            .find(|(field, _)| field.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    }

    /// The value of that name, to be changed.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Value> {
        self.fields
            .iter_mut()
            .find(|(field, _)| field.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    }

    /// The name and value at a position.
    pub fn at(&self, index: usize) -> Option<(&str, &Value)> {
        self.fields.get(index).map(|(name, value)| (name.as_str(), value))
    }

    /// How many values there are.
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// Names and values in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Value)> {
        self.fields.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// The row at `index` of a record batch.
    ///
    /// # Errors
    /// `Invalid` when a column is of a type that Tonnage does not know.
    ///
    /// # Panics
    /// If the batch has no such row.
    pub fn from_batch(batch: &RecordBatch, index: usize) -> Result<Row> {
        let mut row = Row::with_capacity(batch.num_columns());
        for (field, array) in batch.schema_ref().fields().iter().zip(batch.columns()) {
            row.push(field.name().clone(), Value::from_array(array.as_ref(), field, index)?);
        }
        Ok(row)
    }

    /// The index and value of that name.
    pub(crate) fn find(&self, name: &str) -> Option<(usize, &Value)> {
        let index = self.fields.iter().position(|(field, _)| field.eq_ignore_ascii_case(name))?;
        Some((index, &self.fields[index].1))
    }

    /// The value at a position that there is.
    pub(crate) fn value_mut(&mut self, index: usize) -> &mut Value {
        &mut self.fields[index].1
    }

    /// Appends a value whose name is known to be new.
    pub(crate) fn push(&mut self, name: String, value: Value) {
        self.fields.push((name, value));
    }
}

impl<N: Into<String>, V: Into<Value>> FromIterator<(N, V)> for Row {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(fields: I) -> Self {
        let mut row = Row::new();
        fields.into_iter().for_each(|(name, value)| row.set(&name.into(), value));
        row
    }
}

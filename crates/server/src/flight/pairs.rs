//! Key/value pairs as record batches.
//!
//! A key is either one column `key`, its only major component, or two lists `major` and `minor` of
//! components.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BinaryArray, BinaryBuilder, GenericListArray, ListBuilder,
    RecordBatch, UInt64Array,
};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use tonnage::{EntryBatch, Error, PairBatch, Pairs, Payload, Result, UnreadEntry};

use super::plain_bytes::plain_bytes;

/// How the keys of a batch are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyForm {
    /// One column, `key`.
    Single,
    /// Lists of components.
    Components,
}

impl KeyForm {
    /// The form that a schema has.
    ///
    /// # Errors
    /// `Invalid` when it has none.
    pub(crate) fn of(schema: &Schema) -> Result<KeyForm> {
        match (schema.index_of("key").is_ok(), schema.index_of("major").is_ok()) {
            (true, _) => Ok(KeyForm::Single),
            (false, true) => Ok(KeyForm::Components),
            (false, false) => Err(Error::invalid(
                "pairs come with a column `key`, or with lists `major` and `minor`",
            )),
        }
    }
}

fn components() -> DataType {
    DataType::List(Arc::new(Field::new("item", DataType::Binary, true)))
}

enum KeyColumns {
    Single(BinaryArray),
    Components { major: GenericListArray<i32>, minor: Option<GenericListArray<i32>> },
}

impl KeyColumns {
    fn of(batch: &RecordBatch) -> Result<KeyColumns> {
        Ok(match KeyForm::of(batch.schema_ref())? {
            KeyForm::Single => {
                KeyColumns::Single(column(batch, "key", &DataType::Binary)?.as_binary().clone())
            }
            KeyForm::Components => KeyColumns::Components {
                major: column(batch, "major", &components())?.as_list().clone(),
                minor: match batch.column_by_name("minor") {
                    Some(_) => Some(column(batch, "minor", &components())?.as_list().clone()),
                    None => None,
                },
            },
        })
    }

    fn push(&self, row: usize, value: &[u8], pairs: &mut Pairs) -> Result<()> {
        match self {
            KeyColumns::Single(keys) if keys.is_null(row) => Err(Error::invalid("the key is NULL")),
            KeyColumns::Single(keys) => pairs.push_parts(&[keys.value(row)], &[], value),
            KeyColumns::Components { major, .. } if major.is_null(row) => {
                Err(Error::invalid("the major path of the key is NULL"))
            }
            KeyColumns::Components { major, minor } => {
                let major = major.value(row);
                // Below a NULL there may be items, which belong to no row.
                let minor = minor.as_ref().filter(|minor| minor.is_valid(row));
                let minor = minor.map(|minor| minor.value(row));
                let minor = minor.as_ref().map(parts).transpose()?.unwrap_or_default();
                pairs.push_parts(&parts(&major)?, &minor, value)
            }
        }
    }
}

fn parts(list: &ArrayRef) -> Result<Vec<&[u8]>> {
    let list = list.as_binary::<i32>();
    if list.null_count() > 0 {
        return Err(Error::invalid("a component of the key is NULL"));
    }
    Ok((0..list.len()).map(|index| list.value(index)).collect())
}

fn column(batch: &RecordBatch, name: &str, wanted: &DataType) -> Result<ArrayRef> {
    let column = batch
        .column_by_name(name)
        .ok_or_else(|| Error::invalid(format!("pairs come without a column `{name}`")))?;
    plain_bytes(column, wanted).map_err(|error| error.at(format!("column `{name}`")))
}

/// The pairs of a batch, the first of which is at a position of its stream. What is wrong with one
/// pair is a failure of that pair.
///
/// # Errors
/// `Invalid` for columns that are missing or no bytes.
pub(crate) fn entries(batch: &RecordBatch, first: u64) -> Result<EntryBatch> {
    let keys = KeyColumns::of(batch)?;
    let values = values(batch)?;
    let values = values.as_binary::<i32>();
    // The bytes of the values are known at once, those of keys only when each has been put
    // together.
    let mut pairs = Pairs::with_capacity(batch.num_rows(), 0, values.value_data().len());
    let (mut positions, mut unread) = (Vec::new(), Vec::new());
    for row in 0..batch.num_rows() {
        let position = first + row as u64;
        let pushed = match values.is_null(row) {
            true => Err(Error::invalid("the value is NULL")),
            false => keys.push(row, values.value(row), &mut pairs),
        };
        match pushed {
            Ok(()) => positions.push(position),
            Err(error) => unread.push(UnreadEntry {
                position,
                column: None,
                reason: error.message().to_owned(),
            }),
        }
    }
    let mut entries = EntryBatch::from(Payload::Pairs(pairs));
    // Positions are given only where pairs are missing: the load counts by itself otherwise.
    if !unread.is_empty() {
        entries.positions = Some(positions);
        entries.unread = unread;
    }
    Ok(entries)
}

/// The values of a batch, as bytes.
///
/// # Errors
/// `Invalid` when there are none.
pub(crate) fn values(batch: &RecordBatch) -> Result<ArrayRef> {
    column(batch, "value", &DataType::Binary)
}

/// The keys of a batch, to be looked up.
///
/// # Errors
/// `Invalid` for a key that is none.
pub(crate) fn keys(batch: &RecordBatch) -> Result<Pairs> {
    let keys = KeyColumns::of(batch)?;
    let mut pairs = Pairs::with_capacity(batch.num_rows(), 0, 0);
    for row in 0..batch.num_rows() {
        keys.push(row, &[], &mut pairs).map_err(|error| error.at(format!("key {row}")))?;
    }
    Ok(pairs)
}

/// The schema of pairs that are read.
pub(crate) fn schema(form: KeyForm, with_versions: bool) -> SchemaRef {
    let mut fields = match form {
        KeyForm::Single => vec![Field::new("key", DataType::Binary, false)],
        KeyForm::Components => {
            vec![Field::new("major", components(), false), Field::new("minor", components(), false)]
        }
    };
    fields.push(Field::new("value", DataType::Binary, false));
    if with_versions {
        fields.push(Field::new("_version", DataType::UInt64, false));
        fields.push(Field::new("_expires_at_ms", DataType::UInt64, false));
    }
    Arc::new(Schema::new(fields))
}

/// Pairs that were read, as a record batch.
///
/// # Errors
/// `Corruption` for a stored key that is none; `Invalid` when a key with several components is to
/// be a single column.
pub(crate) fn batch(pairs: &PairBatch, form: KeyForm, schema: &SchemaRef) -> Result<RecordBatch> {
    let mut columns: Vec<ArrayRef> = match form {
        // A key comes back in the form in which it was asked for: one column must hold it.
        KeyForm::Single => {
            let mut keys = BinaryBuilder::with_capacity(pairs.len(), 16 * pairs.len());
            for index in 0..pairs.len() {
                let key = pairs.key(index)?;
                let [major] = key.major() else { return Err(several_components()) };
                if !key.minor().is_empty() {
                    return Err(several_components());
                }
                keys.append_value(major);
            }
            vec![Arc::new(keys.finish())]
        }
        KeyForm::Components => {
            let mut major = ListBuilder::new(BinaryBuilder::new());
            let mut minor = ListBuilder::new(BinaryBuilder::new());
            for index in 0..pairs.len() {
                let key = pairs.key(index)?;
                major.append_value(key.major().iter().map(Some));
                minor.append_value(key.minor().iter().map(Some));
            }
            vec![Arc::new(major.finish()), Arc::new(minor.finish())]
        }
    };
    let bytes = (0..pairs.len()).map(|index| pairs.value(index).len()).sum();
    let mut values = BinaryBuilder::with_capacity(pairs.len(), bytes);
    (0..pairs.len()).for_each(|index| values.append_value(pairs.value(index)));
    columns.push(Arc::new(values.finish()));
    // `schema` has both of these columns or none, in this order: one name shows both.
    if schema.index_of("_version").is_ok() {
        let versions: UInt64Array =
            (0..pairs.len()).map(|index| Some(pairs.version(index))).collect();
        columns.push(Arc::new(versions));
        let expiries: UInt64Array =
            (0..pairs.len()).map(|index| Some(pairs.expires_at_ms(index))).collect();
        columns.push(Arc::new(expiries));
    }
    RecordBatch::try_new(schema.clone(), columns)
        .map_err(|error| Error::internal(format!("pairs cannot be made a batch: {error}")))
}

fn several_components() -> Error {
    Error::invalid("a key has several components: ask with lists `major` and `minor`")
}

#[cfg(test)]
mod tests {
    use arrow::array::ListArray;
    use arrow::buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};

    use super::*;

    /// A pair was stored under the bytes below a NULL.
    #[test]
    fn what_lies_behind_a_null_is_no_key() {
        let item = Arc::new(Field::new("item", DataType::Binary, true));
        let paths = |valid: [bool; 2]| {
            let hidden = Arc::new(BinaryArray::from_vec(vec![b"a", b"b"]));
            let offsets = OffsetBuffer::new(ScalarBuffer::from(vec![0, 1, 2]));
            let nulls = NullBuffer::from(valid.to_vec());
            Arc::new(ListArray::new(item.clone(), offsets, hidden, Some(nulls))) as ArrayRef
        };
        let value: ArrayRef = Arc::new(BinaryArray::from_vec(vec![b"1", b"2"]));
        let batch = RecordBatch::try_from_iter([
            ("major", paths([false, true])),
            ("minor", paths([true, false])),
            ("value", value),
        ]);
        let entries = entries(&batch.unwrap(), 0).unwrap();
        assert_eq!(entries.unread.len(), 1);
        assert!(entries.unread[0].reason.contains("NULL"));
        let Payload::Pairs(pairs) = &entries.payload else { panic!("no pairs") };
        assert_eq!((pairs.len(), pairs.key(0).unwrap().to_string()), (1, "/b".to_owned()));
    }
}

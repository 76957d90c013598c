//! The Arrow schema that writers embed in Parquet files, as far as it can be followed.
//!
//! It refines the types of Parquet, but some writers put types into it that the decoder has no
//! reader for, and would refuse the whole file. The values of a dictionary are enough then.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef, Schema};
use arrow_ipc::convert::fb_to_schema;
use arrow_ipc::{Type as IpcType, root_as_message};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use parquet::arrow::{ARROW_SCHEMA_META_KEY, encode_arrow_schema};
use parquet::file::metadata::KeyValue;

use crate::catch_panic::catch_panic;

/// What is known of the embedded schema.
#[derive(Default)]
pub(super) struct ArrowHint {
    is_readable: bool,
    /// The schema to put in its place.
    mended: Option<String>,
    /// The columns of whole numbers of 128 bits, which Arrow does not have.
    wide: Vec<WideColumn>,
}

/// A column of whole numbers of 128 bits. Polars 2.1 writes their bytes, and says what they are
/// only in the embedded schema.
pub(super) struct WideColumn {
    pub(super) name: String,
    pub(super) is_signed: bool,
}

impl ArrowHint {
    pub(super) fn of(pairs: Option<&Vec<KeyValue>>) -> ArrowHint {
        let encoded = pairs
            .and_then(|pairs| pairs.iter().find(|pair| pair.key == ARROW_SCHEMA_META_KEY))
            .and_then(|pair| pair.value.as_ref());
        let Some(encoded) = encoded else {
            return ArrowHint { is_readable: true, ..ArrowHint::default() };
        };
        let Ok(bytes) = BASE64_STANDARD.decode(encoded) else { return ArrowHint::default() };
        // The length may precede the message, after a mark.
        let message = match bytes.get(..4) {
            Some([0xff, 0xff, 0xff, 0xff]) => bytes.get(8..).unwrap_or_default(),
            _ => &bytes,
        };
        let wide = wide_columns(message);
        if !wide.is_empty() {
            return ArrowHint { wide, ..ArrowHint::default() };
        }
        // The decoder panics for types that it does not know.
        let schema = catch_panic(|| decoded(message).ok_or(()), |_| ());
        let Ok(schema) = schema else { return ArrowHint::default() };
        let fields: Vec<_> = schema.fields().iter().map(mended).collect();
        let is_same = fields.iter().eq(schema.fields().iter());
        let better = Schema::new_with_metadata(fields, schema.metadata().clone());
        ArrowHint {
            is_readable: true,
            mended: (!is_same).then(|| encode_arrow_schema(&better)),
            wide: Vec::new(),
        }
    }

    /// Whether the decoder can be given the embedded schema, or there is none.
    pub(super) fn is_readable(&self) -> bool {
        self.is_readable
    }

    pub(super) fn mended(&self) -> Option<&str> {
        self.mended.as_deref()
    }

    /// Whether the bytes of a column are whole numbers of 128 bits, and of which kind.
    pub(super) fn wide(&self, name: &str) -> Option<&WideColumn> {
        self.wide.iter().find(|column| column.name == name)
    }
}

fn decoded(message: &[u8]) -> Option<Schema> {
    root_as_message(message).ok()?.header_as_schema().map(fb_to_schema)
}

fn wide_columns(message: &[u8]) -> Vec<WideColumn> {
    let Ok(message) = root_as_message(message) else { return Vec::new() };
    let fields = message.header_as_schema().and_then(|schema| schema.fields());
    let wide = fields.into_iter().flatten().filter_map(|field| {
        let whole = field.type_as_int().filter(|_| field.type_type() == IpcType::Int)?;
        let name = field.name()?.to_owned();
        (whole.bitWidth() == 128).then(|| WideColumn { name, is_signed: whole.is_signed() })
    });
    wide.collect()
}

/// The field with types that the decoder has readers for.
fn mended(field: &FieldRef) -> FieldRef {
    let data_type = match field.data_type() {
        DataType::Dictionary(_, values) if !is_plain(values) => values.as_ref().clone(),
        DataType::RunEndEncoded(_, values) => mended(values).data_type().clone(),
        DataType::List(item) | DataType::ListView(item) => DataType::List(mended(item)),
        DataType::LargeList(item) | DataType::LargeListView(item) => {
            DataType::LargeList(mended(item))
        }
        DataType::FixedSizeList(item, width) => DataType::FixedSizeList(mended(item), *width),
        DataType::Map(entries, is_sorted) => DataType::Map(mended(entries), *is_sorted),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(mended).collect()),
        _ => return Arc::clone(field),
    };
    match &data_type == field.data_type() {
        true => Arc::clone(field),
        false => {
            // Not derived from the old field, which has the number of a dictionary.
            let plain = Field::new(field.name(), data_type, field.is_nullable());
            Arc::new(plain.with_metadata(field.metadata().clone()))
        }
    }
}

/// Whether the decoder can give dictionaries of these values.
fn is_plain(values: &DataType) -> bool {
    matches!(
        values,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Binary | DataType::LargeBinary
    )
}

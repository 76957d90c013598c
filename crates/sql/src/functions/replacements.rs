//! How long texts get by `replace` and `regexp_replace`.
//!
//! First as if everything matched, which is quick; only where that is too long matches are counted.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, StringArray};
use arrow::datatypes::{DataType, Field, Int64Type};
use datafusion::common::Result;
use datafusion::config::ConfigOptions;
use datafusion::functions::regex::regexp_count;
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs};

use super::given_columns::GivenColumns;

/// Above so many bytes matches are counted.
const COUNTED_BYTES: i64 = 8 << 20;

/// `replace(text, from, to)`
pub(super) fn by_text(given: &GivenColumns) -> Result<i64> {
    let (all, from, to) = (given.texts(0)?, given.texts(1)?, given.texts(2)?);
    let length = |row: usize, matches: &dyn Fn(&str, &str) -> usize| {
        let (text, to) = (all.value(given.index(0, row)), to.value(given.index(2, row)));
        let from = from.value(given.index(1, row));
        // Nothing is replaced by an empty text.
        if from.is_empty() || to.len() <= from.len() {
            return text.len() as i64;
        }
        let grown = matches(text, from).saturating_mul(to.len() - from.len());
        text.len().saturating_add(grown) as i64
    };
    let most = given.sum(|row| length(row, &|text, from| text.len() / from.len()));
    Ok(match most <= COUNTED_BYTES {
        true => most,
        false => given.sum(|row| length(row, &|text, from| text.matches(from).count())),
    })
}

/// `regexp_replace(text, pattern, to, flags)`
pub(super) fn by_pattern(given: &GivenColumns) -> Result<i64> {
    let (all, to) = (given.texts(0)?, given.texts(2)?);
    let flags = if given.len() > 3 { Some(given.texts(3)?) } else { None };
    let is_global = |row: usize| {
        flags.as_ref().is_some_and(|flags| flags.value(given.index(3, row)).contains('g'))
    };
    let length = |row: usize, matches: i64| {
        let (text, to) = (all.value(given.index(0, row)), to.value(given.index(2, row)));
        let matches = if is_global(row) { matches } else { matches.min(1) };
        // Matches do not overlap: what a `\1` puts in is no longer than the text, over all of them.
        let groups = to.bytes().filter(|byte| b"\\$".contains(byte)).count() as i64;
        let put_in = matches.saturating_mul(to.len() as i64);
        (text.len() as i64).saturating_mul(1 + groups).saturating_add(put_in)
    };
    let most = given.sum(|row| length(row, all.value(given.index(0, row)).len() as i64 + 1));
    if most <= COUNTED_BYTES {
        return Ok(most);
    }
    let counts = matches(given, flags.as_ref())?;
    Ok(given.sum(|row| length(row, counts.value(row))))
}

/// How often a pattern matches in each row.
fn matches(given: &GivenColumns, flags: Option<&StringArray>) -> Result<Int64Array> {
    let rows = 0..given.rows;
    let (all, patterns) = (given.texts(0)?, given.texts(1)?);
    let in_rows = |texts: &StringArray, place: usize| -> StringArray {
        rows.clone().map(|row| text_at(texts, given.index(place, row))).collect()
    };
    // The function compares rows with rows: a text for all rows is written out.
    let mut columns: Vec<ArrayRef> =
        vec![Arc::new(in_rows(&all, 0)), Arc::new(in_rows(&patterns, 1))];
    if let Some(flags) = flags {
        // All matches are counted anyway; the flag that says so is an error there.
        let others = in_rows(flags, 3);
        let others = others.iter().map(|flags| flags.map(|flags| flags.replace('g', "")));
        columns.push(Arc::new(Int64Array::from(vec![1; given.rows])));
        columns.push(Arc::new(others.collect::<StringArray>()));
    }
    let fields = columns.iter().map(|column| Field::new("", column.data_type().clone(), true));
    let counted = regexp_count().invoke_with_args(ScalarFunctionArgs {
        arg_fields: fields.map(Arc::new).collect(),
        args: columns.into_iter().map(ColumnarValue::Array).collect(),
        number_rows: given.rows,
        return_field: Arc::new(Field::new("", DataType::Int64, true)),
        config_options: Arc::new(ConfigOptions::default()),
    })?;
    Ok(counted.to_array(given.rows)?.as_primitive::<Int64Type>().clone())
}

fn text_at(texts: &StringArray, place: usize) -> Option<&str> {
    texts.is_valid(place).then(|| texts.value(place))
}

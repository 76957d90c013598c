//! Hive partitioning: folders named after the values of columns, such as `country=FR/year=2022`.

use std::fmt::Write;
use std::sync::Arc;

use arrow::array::{RecordBatch, UInt32Array};
use arrow::compute::take_record_batch;
use arrow::datatypes::{Schema, SchemaRef};
use tonnage::{Error, Row, Value};
use tonnage_files::FOLDER_OF_NULL;

use crate::exit::{CliResult, Failure};

/// The columns that name the folders.
pub(super) struct PartitionFolders {
    places: Vec<usize>,
    others: Vec<usize>,
}

impl PartitionFolders {
    pub(super) fn of(schema: &Schema, names: &[String]) -> CliResult<Self> {
        let mut places = Vec::with_capacity(names.len());
        for name in names {
            let fields = schema.fields();
            let place = fields.iter().position(|field| field.name().eq_ignore_ascii_case(name));
            let Some(place) = place else {
                let known: Vec<_> = fields.iter().map(|field| field.name().as_str()).collect();
                return Err(Failure::usage(format!(
                    "--split-by {name}: there is no such column among those to write: {}",
                    known.join(", ")
                )));
            };
            // Compared by position: a column may be named in two cases of letters.
            if places.contains(&place) {
                return Err(Failure::usage(format!("--split-by names {name} twice")));
            }
            if schema.field(place).data_type().is_nested() {
                return Err(Failure::usage(format!(
                    "--split-by {name}: its values are nested, and name no folder"
                )));
            }
            places.push(place);
        }
        let others: Vec<_> =
            (0..schema.fields().len()).filter(|place| !places.contains(place)).collect();
        // Files without a column could not say how many rows they have.
        if others.is_empty() {
            return Err(Failure::usage("--split-by names all columns, so none is left to write"));
        }
        Ok(Self { places, others })
    }

    /// The columns of the files.
    pub(super) fn file_schema(&self, schema: &SchemaRef) -> CliResult<SchemaRef> {
        Ok(without(schema, &self.places))
    }

    /// The rows of each folder.
    pub(super) fn split_by_folder(
        &self,
        batch: &RecordBatch,
    ) -> CliResult<Vec<(String, RecordBatch)>> {
        let keys = batch.project(&self.places).map_err(internal)?;
        let left = batch.project(&self.others).map_err(internal)?;
        let mut groups: Vec<(String, Vec<u32>)> = Vec::new();
        let mut found = std::collections::HashMap::new();
        for row in 0..batch.num_rows() {
            let folder = folder_of(&Row::from_batch(&keys, row)?);
            let place = *found.entry(folder).or_insert_with_key(|folder| {
                groups.push((folder.clone(), Vec::new()));
                groups.len() - 1
            });
            groups[place].1.push(row as u32);
        }
        let taken = |(folder, rows): (String, Vec<u32>)| {
            let rows = take_record_batch(&left, &UInt32Array::from(rows)).map_err(internal)?;
            Ok((folder, rows))
        };
        groups.into_iter().map(taken).collect()
    }
}

fn internal(error: arrow::error::ArrowError) -> Failure {
    Error::internal(format!("rows of a folder: {error}")).into()
}

fn folder_of(key: &Row) -> String {
    let mut folder = String::new();
    for (name, value) in key.iter() {
        if !folder.is_empty() {
            folder.push('/');
        }
        escape(name, &mut folder);
        folder.push('=');
        match value {
            Value::Null => folder.push_str(FOLDER_OF_NULL),
            value => match value.to_string() {
                // The text that means NULL is not NULL.
                text if text == FOLDER_OF_NULL => {
                    folder.push_str(&FOLDER_OF_NULL.replacen('_', "%5F", 1));
                }
                text => escape(&text, &mut folder),
            },
        }
    }
    folder
}

/// Writes what is not plain ASCII, or what a file system or a reader would take for something else
/// as `%` and two digits.
fn escape(text: &str, folder: &mut String) {
    let is_dots = text.bytes().all(|byte| byte == b'.');
    for byte in text.bytes() {
        let is_special =
            byte < 0x20 || !byte.is_ascii() || b"\"#%'*/:=?\\{}[]^\x7f".contains(&byte);
        match is_special || is_dots {
            true => drop(write!(folder, "%{byte:02X}")),
            false => folder.push(char::from(byte)),
        }
    }
}

/// A schema without some of its columns.
fn without(schema: &Schema, places: &[usize]) -> SchemaRef {
    let fields = schema.fields().iter().enumerate();
    let left = fields.filter(|(place, _)| !places.contains(place));
    Arc::new(Schema::new(left.map(|(_, field)| field.clone()).collect::<Vec<_>>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_named_by_columns_and_values() {
        let key = Row::new().with("a", 5).with("b", "x/y=é").with("c", Value::Null);
        assert_eq!(folder_of(&key), "a=5/b=x%2Fy%3D%C3%A9/c=__HIVE_DEFAULT_PARTITION__");
        assert_eq!(folder_of(&Row::new().with("a", "..")), "a=%2E%2E");
        assert_eq!(folder_of(&Row::new().with("a", "")), "a=");
        let text = folder_of(&Row::new().with("a", FOLDER_OF_NULL));
        assert_eq!(text, "a=%5F_HIVE_DEFAULT_PARTITION__");
    }
}

//! Hive partition columns: columns in the names of folders, such as `country=FR/year=2022/a.csv`.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use arrow::array::{RecordBatch, UInt32Array};
use arrow::compute::take;
use arrow::datatypes::{Schema, SchemaRef};
use arrow::error::ArrowError;
use tonnage_engine::{Error, Result};

use crate::batch::ReadBatch;
use crate::format::Format;
use crate::input::Input;
use crate::options::{CsvOptions, ReadOptions};
use crate::percent::decode_percent;
use crate::rename::Renames;
use crate::source::Source;
use crate::text::reader::TextReader;

/// The name of a folder that means NULL.
pub const FOLDER_OF_NULL: &str = "__HIVE_DEFAULT_PARTITION__";

/// The columns in the path of a source, each with its value; none means NULL.
pub(crate) fn columns_in(path: &str, renames: &Renames) -> Vec<(String, Option<String>)> {
    let column = |(name, value): (&str, &str)| {
        let value = (value != FOLDER_OF_NULL).then(|| decode_percent(value));
        (renames.of(&decode_percent(name)).into_owned(), value)
    };
    told_by_folders(path).map(column).collect()
}

/// The names and values in the folders of a path, as they stand there.
fn told_by_folders(path: &str) -> impl Iterator<Item = (&str, &str)> {
    let folders = path.rsplit_once('/').map_or("", |(folders, _)| folders);
    let told = folders.split('/').filter_map(|folder| folder.split_once('='));
    told.filter(|(name, _)| !name.is_empty())
}

/// The folders of a source that tell columns, if they are to: the records that are kept are written
/// into folders of the same names.
pub fn column_folders(source: &Source, options: &ReadOptions) -> PathBuf {
    let told = options.folders.then(|| told_by_folders(source.name())).into_iter().flatten();
    told.map(|(name, value)| format!("{name}={value}")).collect()
}

/// The names of the columns that the folders of sources tell, see [`ReadOptions::folders`].
pub fn folder_column_names(sources: &[Source], options: &ReadOptions) -> BTreeSet<String> {
    let told = sources.iter().filter(|_| options.folders);
    let told = told.flat_map(|source| columns_in(source.name(), &options.renames));
    told.map(|(name, _)| name).collect()
}

/// The columns that every row of a source has from its folders.
pub(crate) struct FolderColumns {
    row: RecordBatch,
    schema: SchemaRef,
}

impl FolderColumns {
    /// The columns of a source whose own columns are known; none if its folders name none.
    pub(crate) fn of(
        source: &Source,
        options: &ReadOptions,
        own: &Schema,
    ) -> Result<Option<FolderColumns>> {
        let columns = columns_in(source.name(), &options.renames);
        if !options.folders || columns.is_empty() {
            return Ok(None);
        }
        let is_broken = |text: &str| text.contains(char::REPLACEMENT_CHARACTER);
        // A name that was decoded with losses could mean another folder's.
        if let Some((name, _)) = columns
            .iter()
            .find(|(name, value)| is_broken(name) || value.as_deref().is_some_and(is_broken))
        {
            return Err(Error::invalid(format!(
                "{}: the folder of column {name} is not named in UTF-8: rename it",
                source.name()
            )));
        }
        let is_own =
            |name: &str| own.fields().iter().any(|field| field.name().eq_ignore_ascii_case(name));
        // Two values for one column: either could be meant.
        if let Some((name, _)) = columns.iter().find(|(name, _)| is_own(name)) {
            return Err(Error::invalid(format!(
                "{}: the column {name} is in the file and in the name of its folder",
                source.name()
            )));
        }
        let row = one_row(&columns, options).map_err(|error| error.at(source.name()))?;
        let fields = own.fields().iter().chain(row.schema_ref().fields());
        let schema = Arc::new(Schema::new(fields.cloned().collect::<Vec<_>>()));
        Ok(Some(FolderColumns { row, schema }))
    }

    pub(crate) fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// The rows with the columns of their folders.
    pub(crate) fn add_to(&self, read: ReadBatch) -> Result<ReadBatch> {
        let places = UInt32Array::from(vec![0; read.batch.num_rows()]);
        let mut columns = read.batch.columns().to_vec();
        for column in self.row.columns() {
            columns.push(take(column, &places, None).map_err(internal)?);
        }
        let batch = RecordBatch::try_new(self.schema(), columns).map_err(internal)?;
        Ok(ReadBatch { batch, ..read })
    }
}

/// The values in their types. They are read as CSV, so they become what text of files becomes.
fn one_row(columns: &[(String, Option<String>)], options: &ReadOptions) -> Result<RecordBatch> {
    // Quoted, because a folder may have commas and quotes in its name. Only plain text can mean
    // NULL.
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let names: Vec<_> = columns.iter().map(|(name, _)| quoted(name)).collect();
    let values: Vec<_> = columns
        .iter()
        .map(|(_, value)| value.as_deref().map_or(FOLDER_OF_NULL.to_owned(), quoted))
        .collect();
    let text = format!("{}\n{}\n", names.join(","), values.join(","));
    let source = Source::memory("the name of its folder", text.into_bytes());
    let csv = CsvOptions { nulls: vec![FOLDER_OF_NULL.to_owned()], ..CsvOptions::default() };
    // The renames of the options are left out: `columns_in` has applied them.
    let options = ReadOptions {
        schema: options.schema.clone(),
        unmentioned: options.unmentioned,
        csv,
        ..ReadOptions::default()
    };
    let input = Input::open(&source, &options)?;
    let mut reader = TextReader::open(&source, input, Format::Csv, &options)?;
    let read = reader.next()?.ok_or_else(|| Error::internal("a folder without a value"))?;
    match read.rejected.first() {
        None => Ok(read.batch),
        Some(rejected) => {
            let column = rejected.column.as_deref().unwrap_or_default();
            let reason = &rejected.reason;
            Err(Error::invalid(format!("in the name of its folder, column {column}: {reason}")))
        }
    }
}

fn internal(error: ArrowError) -> Error {
    Error::internal(format!("the columns of a folder: {error}")).with_source(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_tell_columns_and_values() {
        let columns = columns_in(
            "/data/a=1/b=x%2Fy%3D/plain/c=__HIVE_DEFAULT_PARTITION__/d=5.csv",
            &Renames::default(),
        );
        let expected = [("a", Some("1")), ("b", Some("x/y=")), ("c", None)];
        let told: Vec<_> =
            columns.iter().map(|(name, value)| (name.as_str(), value.as_deref())).collect();
        assert_eq!(told, expected);
        assert_eq!(
            (decode_percent("100%"), decode_percent("%+5")),
            ("100%".to_owned(), "%+5".to_owned())
        );
        assert_eq!(decode_percent("%C3%A9%zz"), "é%zz");
    }
}

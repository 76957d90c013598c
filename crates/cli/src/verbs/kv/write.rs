//! Writes and deletes key/value pairs.

use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema};
use clap::Args;
use tonnage::{Error, Key, Result, WriteOptions};
use tonnage_files::{ReadOptions, Source, type_name};

use super::read::{RangeArgs, Scope};
use crate::args::Globals;
use crate::exit::{CliResult, Exit, Failure};
use crate::load::{FileInput, JobArgs, LoadTarget};
use crate::stderr;
use crate::time_limit;
use crate::values::{BytesAs, Durability};
use crate::verbs::put::{WriteArgs, report_write};

/// Store a value under a key
#[derive(Args)]
pub(crate) struct KvPutArgs {
    /// The key: /major/-/minor
    key: Key,
    /// The value [default: standard input]
    #[arg(conflicts_with = "file")]
    value: Option<String>,
    /// Read the value from a file
    #[arg(long, short, value_name = "FILE")]
    file: Option<PathBuf>,
    #[command(flatten)]
    write: WriteArgs,
}

impl KvPutArgs {
    pub(crate) fn run(&self, globals: &Globals) -> CliResult {
        let value = self.value()?;
        let connection = globals.connection_or_create(true)?;
        let (condition, options) = (self.write.condition(), self.write.options());
        let written = connection.kv().put_if(&self.key, &value, condition, &options)?;
        Ok(if report_write(globals, &self.key.to_string(), written) {
            Exit::Success
        } else {
            Exit::Rejected
        })
    }

    fn value(&self) -> Result<Vec<u8>> {
        let read = match (&self.value, &self.file) {
            (Some(text), _) => return Ok(text.clone().into_bytes()),
            (None, Some(path)) if path.as_os_str() != "-" => {
                std::fs::read(path).map_err(|error| (path.display().to_string(), error))
            }
            _ => {
                let mut bytes = Vec::new();
                let read = std::io::stdin().read_to_end(&mut bytes);
                read.map(|_| bytes).map_err(|error| ("standard input".to_owned(), error))
            }
        };
        read.map_err(|(place, error)| {
            Error::invalid(format!("{place}: cannot be read: {error}")).with_source(error)
        })
    }
}

/// Delete the pair of a key, or those below it
#[derive(Args)]
pub(crate) struct DeleteArgs {
    /// The key: /major/-/minor
    key: Key,
    /// How deep to delete below the key
    #[arg(long, value_enum, default_value_t)]
    depth: Scope,
    #[command(flatten)]
    range: RangeArgs,
    /// Durability: when it counts as deleted
    #[arg(long, value_enum, default_value_t)]
    durability: Durability,
}

impl DeleteArgs {
    pub(crate) fn run(&self, globals: &Globals) -> CliResult {
        let range = self.range.range();
        let options = WriteOptions {
            durability: self.durability.into(),
            timeout: time_limit::remaining(),
            ..WriteOptions::default()
        };
        let connection = globals.connection()?;
        let deleted = connection.kv().delete_subtree_with(
            &self.key,
            self.depth.into(),
            range.as_ref(),
            &options,
        )?;
        if deleted == 0 {
            stderr::line(format_args!("tonnage: {}: nothing to delete", self.key));
            return Ok(Exit::Rejected);
        }
        globals.info(format_args!("{}: {deleted} deleted", self.key));
        Ok(Exit::Success)
    }
}

/// Load pairs from files with the columns key and value
#[derive(Args)]
pub(crate) struct KvLoadArgs {
    #[command(flatten)]
    job: JobArgs,
    /// Encoding of values in the files
    #[arg(long, value_enum, default_value_t)]
    values: BytesAs,
}

impl KvLoadArgs {
    pub(crate) fn run(&self, globals: &Globals) -> CliResult {
        self.job.check_destinations()?;
        let value_type = match self.values {
            BytesAs::Text => DataType::Utf8,
            BytesAs::Base64 => DataType::Binary,
        };
        let wanted = Schema::new(vec![
            Field::new("key", DataType::Utf8, false),
            Field::new("value", value_type, true),
        ]);
        let mut options =
            ReadOptions { schema: Some(Arc::new(wanted.clone())), ..self.job.read_options()? };
        // A blank line is not a key.
        options.csv.blank_is_null = false;
        let check = |source: &Source, found: &Schema| {
            check_columns(&wanted, source.name(), found).map(|()| None)
        };
        let inputs = FileInput::prepare(self.job.sources()?, &options, true, check)?;
        let connection = globals.connection_or_create(true)?;
        let target = LoadTarget::Pairs { ttl: self.job.ttl };
        self.job.run(globals, &connection, inputs, &target).map(|end| end.exit)
    }
}

/// Both columns must be there, and of a type that can be read as such; Parquet may hold values as
/// bytes.
fn check_columns(wanted: &Schema, source: &str, found: &Schema) -> CliResult<()> {
    for field in wanted.fields() {
        let found = found.fields().iter().find(|found| found.name() == field.name());
        let Some(found) = found else {
            return Err(Failure::usage(format!(
                "{source}: it has no column {}: pairs need key and value",
                field.name()
            )));
        };
        if found.data_type() != field.data_type() {
            return Err(Failure::usage(format!(
                "{source}: column {} holds {}, not text",
                field.name(),
                type_name(found)
            )));
        }
    }
    Ok(())
}

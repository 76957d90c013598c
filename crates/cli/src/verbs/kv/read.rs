//! Reads key/value pairs.

use std::collections::HashSet;
use std::io::IsTerminal;
use std::sync::Arc;

use arrow::array::{ArrayRef, BinaryBuilder, RecordBatch, StringBuilder, UInt64Array};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use clap::{Args, ValueEnum};
use tonnage::{Depth, Error, Key, KeyRange, PairGetOptions, Result};
use tonnage_client::{AnyKeyValue, AnyPairBatch, AnyPairs};

use crate::args::Globals;
use crate::exit::{CliResult, Exit};
use crate::fetched_rows::read_failure;
use crate::interrupt;
use crate::output::{LineOutput, OutputArgs};
use crate::stderr;
use crate::values::{BytesAs, DirectionArgs};

/// `--depth`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Scope {
    /// The pair itself
    #[default]
    Parent,
    /// Pairs with one more minor component
    Children,
    /// Pairs with any number of further minor components
    Descendants,
    /// The pair itself and those with one more minor component
    ParentAndChildren,
    /// The pair itself and all below it
    ParentAndDescendants,
}

impl From<Scope> for Depth {
    fn from(scope: Scope) -> Self {
        match scope {
            Scope::Parent => Depth::ParentOnly,
            Scope::Children => Depth::ChildrenOnly,
            Scope::Descendants => Depth::DescendantsOnly,
            Scope::ParentAndChildren => Depth::ParentAndChildren,
            Scope::ParentAndDescendants => Depth::ParentAndDescendants,
        }
    }
}

/// A range of the minor component right below the key.
#[derive(Args)]
pub(crate) struct RangeArgs {
    /// Lower bound (inclusive) of the minor component right below the key
    #[arg(long, value_name = "COMPONENT")]
    from: Option<String>,
    /// Upper bound (inclusive) of that component
    #[arg(long, value_name = "COMPONENT")]
    to: Option<String>,
    /// Prefix of that component
    #[arg(long, value_name = "TEXT")]
    prefix: Option<String>,
}

impl RangeArgs {
    pub(crate) fn range(&self) -> Option<KeyRange> {
        let is_given = self.from.is_some() || self.to.is_some() || self.prefix.is_some();
        let end = |text: &Option<String>| text.clone().map(|text| (text.into_bytes(), true));
        let prefix = self.prefix.clone().unwrap_or_default().into_bytes();
        is_given.then(|| KeyRange { start: end(&self.from), end: end(&self.to), prefix })
    }
}

/// Write the value of a key to standard output, byte for byte
#[derive(Args)]
pub(crate) struct KvGetArgs {
    /// The key: /major/-/minor
    key: Key,
}

impl KvGetArgs {
    pub(crate) fn run(&self, globals: &Globals) -> CliResult {
        let Some(pair) = globals.connection()?.kv().get(&self.key)? else {
            stderr::line(format_args!("tonnage: {}: there is no such pair", self.key));
            return Ok(Exit::Rejected);
        };
        let mut output = LineOutput::stdout();
        output.bytes(&pair.value)?;
        if std::io::stdout().is_terminal() {
            output.bytes(b"\n")?;
        }
        output.finish()?;
        Ok(Exit::Success)
    }
}

/// How pairs are written.
#[derive(Args)]
struct PairOutputArgs {
    /// Return keys only
    #[arg(long)]
    keys_only: bool,
    /// Encoding of values
    #[arg(long, value_enum, default_value_t)]
    values: BytesAs,
    #[command(flatten)]
    direction: DirectionArgs,
    #[command(flatten)]
    output: OutputArgs,
}

/// Read the pairs at and below keys
#[derive(Args)]
pub(crate) struct MultiGetArgs {
    /// The keys: /major/-/minor
    #[arg(required = true, value_name = "KEY")]
    keys: Vec<Key>,
    /// How deep to read below each key
    #[arg(long, value_enum, default_value_t)]
    depth: Scope,
    #[command(flatten)]
    range: RangeArgs,
    /// Maximum pairs below each key
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    limit_per_key: Option<u64>,
    #[command(flatten)]
    pairs: PairOutputArgs,
}

impl MultiGetArgs {
    pub(crate) fn run(&self, globals: &Globals) -> CliResult {
        let options = PairGetOptions {
            depth: self.depth.into(),
            range: self.range.range(),
            limit_per_key: self.limit_per_key,
            ..self.pairs.options()
        };
        let pairs = globals.connection()?.kv();
        let found = pairs.bulk_get(self.keys.clone(), &options)?;
        let (found, wanted) = (self.pairs.write(found, None)?, self.pairs_expected());
        if found >= wanted {
            return Ok(Exit::Success);
        }
        match found {
            0 => globals.info("tonnage: there is no pair of any of the keys"),
            _ => globals.info(format_args!(
                "tonnage: there is no pair of {} of the {wanted} keys: {}",
                wanted - found,
                self.keys_without_pair(&pairs)?
            )),
        }
        Ok(Exit::Rejected)
    }

    /// The keys that have no pair. The pairs that were written tell no key where only values are
    /// asked for, so each key is looked up once more.
    fn keys_without_pair(&self, pairs: &AnyKeyValue) -> CliResult<String> {
        const TOLD_MAX: usize = 10;
        let mut missing = Vec::new();
        let mut seen = HashSet::new();
        for key in self.keys.iter().filter(|key| seen.insert(*key)) {
            if pairs.get(key)?.is_none() {
                missing.push(key.to_string());
            }
            if missing.len() > TOLD_MAX {
                missing[TOLD_MAX] = "...".to_owned();
                break;
            }
        }
        Ok(missing.join(" "))
    }

    /// How many pairs there must be: one for each key; one at all if pairs below the keys are asked
    /// for; none if a range may be empty.
    fn pairs_expected(&self) -> u64 {
        match self.depth {
            _ if self.range.range().is_some() => 0,
            Scope::Parent => self.keys.iter().collect::<HashSet<_>>().len() as u64,
            _ => 1,
        }
    }
}

/// Read all pairs
#[derive(Args)]
pub(crate) struct KvScanArgs {
    /// Maximum pairs
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    #[command(flatten)]
    pairs: PairOutputArgs,
}

impl KvScanArgs {
    pub(crate) fn run(&self, globals: &Globals) -> CliResult {
        // The limit of a scan holds for all pairs together.
        let limit_per_key = self.limit.filter(|limit| *limit > 0);
        let options = PairGetOptions { limit_per_key, ..self.pairs.options() };
        let pairs = globals.connection()?.kv().scan(&options)?;
        self.pairs.write(pairs, self.limit)?;
        Ok(Exit::Success)
    }
}

impl PairOutputArgs {
    fn options(&self) -> PairGetOptions {
        PairGetOptions {
            keys_only: self.keys_only,
            direction: self.direction.direction(),
            cancel: interrupt::cancel(),
            ..PairGetOptions::default()
        }
    }

    /// Writes pairs. Returns how many there were.
    fn write(&self, pairs: AnyPairs, limit: Option<u64>) -> CliResult<u64> {
        let cancel = interrupt::cancel();
        let schema = self.schema();
        let mut output = self.output.open(schema.clone())?;
        let mut left = limit.unwrap_or(u64::MAX);
        let failed = read_failure(matches!(pairs, AnyPairs::Remote(_)));
        for batch in pairs {
            interrupt::check(&cancel)?;
            let batch = batch.map_err(failed)?;
            let count = left.min(batch.len() as u64);
            output.write(&self.rows(&schema, &batch, count as usize)?)?;
            left -= count;
            if left == 0 {
                break;
            }
        }
        output.finish()
    }

    fn schema(&self) -> SchemaRef {
        let mut fields = vec![
            Field::new("key", DataType::Utf8, false),
            Field::new("version", DataType::UInt64, false),
        ];
        let value_type = match self.values {
            BytesAs::Text => DataType::Utf8,
            BytesAs::Base64 => DataType::Binary,
        };
        if !self.keys_only {
            fields.push(Field::new("value", value_type, false));
        }
        Arc::new(Schema::new(fields))
    }

    fn rows(&self, schema: &SchemaRef, batch: &AnyPairBatch, count: usize) -> Result<RecordBatch> {
        // The columns follow `schema`, under which the output was opened.
        let mut keys = StringBuilder::new();
        for index in 0..count {
            keys.append_value(batch.key(index)?.to_string());
        }
        let versions = UInt64Array::from_iter_values((0..count).map(|index| batch.version(index)));
        let mut columns: Vec<ArrayRef> = vec![Arc::new(keys.finish()), Arc::new(versions)];
        match self.values {
            _ if self.keys_only => {}
            BytesAs::Base64 => {
                let mut values = BinaryBuilder::new();
                for index in 0..count {
                    values.append_value(batch.value(index));
                }
                columns.push(Arc::new(values.finish()));
            }
            // Bytes that are not text are refused: to replace them would lose them without a word.
            BytesAs::Text => columns.push(Arc::new(texts(batch, count)?.finish())),
        }
        RecordBatch::try_new(schema.clone(), columns)
            .map_err(|error| Error::internal("pairs cannot be put together").with_source(error))
    }
}

fn texts(batch: &AnyPairBatch, count: usize) -> Result<StringBuilder> {
    let mut values = StringBuilder::new();
    for index in 0..count {
        let text = std::str::from_utf8(batch.value(index));
        let key = batch.key(index)?;
        values.append_value(text.map_err(|_| {
            Error::invalid(format!(
                "the value of {key} is not text: use --values base64, or `kv get` for its bytes"
            ))
        })?);
    }
    Ok(values)
}

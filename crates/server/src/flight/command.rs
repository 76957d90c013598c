//! Commands: the JSON in a descriptor, a ticket or an action.

use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use tonnage::{
    BulkGetOptions, BulkPutOptions, Durability, Error, ErrorsMax, FieldRange, KeyRange, OnExisting,
    PairGetOptions, Result, TableScanOptions, TableSchema,
};

use super::choice::{
    DepthChoice, DirectionChoice, DurabilityChoice, ExistingChoice, ReportsChoice,
};
use super::consistency_choice::ConsistencyChoice;
use super::known_versions::KnownVersions;
use super::lob_command::{GetLobCommand, PutLobCommand};
use super::within_command::WithinCommand;
use crate::auth::{Caller, Right};
use crate::config::parse_time;
use crate::json_error::json_error;
use crate::json_value::key_value_of;

/// What a descriptor or a ticket asks for.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum FlightCommand {
    /// Entries in.
    BulkPut(BulkPutCommand),
    /// Keys in, rows out.
    BulkGet(BulkGetCommand),
    /// Regions in, rows out.
    BulkGetWithin(WithinCommand),
    /// All rows of a table, or a part of them.
    Scan(ScanCommand),
    /// A large object in.
    PutLob(PutLobCommand),
    /// A large object out.
    GetLob(GetLobCommand),
    /// Calls on single rows and pairs in, their answers out.
    Calls {},
}

/// Reads JSON, and names what it is when it cannot.
pub(crate) fn parse<T: DeserializeOwned>(what: &str, json: &[u8]) -> Result<T> {
    serde_json::from_slice(json).map_err(|error| {
        Error::invalid(format!("{what} is not as docs/flight.md says: {}", json_error(&error)))
    })
}

/// Puts entries in bulk.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct BulkPutCommand {
    pub(crate) table: Option<String>,
    pub(crate) pairs: bool,
    pub(crate) stream: Option<String>,
    pub(crate) job: Option<String>,
    pub(crate) on_existing: Option<ExistingChoice>,
    pub(crate) durability: Option<DurabilityChoice>,
    /// A count, or a share such as `1%`.
    #[serde(deserialize_with = "count_or_share")]
    pub(crate) errors_max: Option<String>,
    pub(crate) ttl: Option<String>,
    /// How long entries may wait until they are durable.
    pub(crate) flush_interval: Option<String>,
    /// Memory of the load: less than its share of the server's.
    pub(crate) memory_bytes: Option<usize>,
    pub(crate) end: EndRule,
    /// Which entries are reported one by one, however many there are.
    pub(crate) reports: ReportsChoice,
    /// Of the others the first ones are reported: of each kind at most so many.
    pub(crate) reports_max: Option<usize>,
    /// How many entries the stream will bring, if its client knows.
    pub(crate) expected_rows: Option<u64>,
}

/// Whether a stream must be ended by its marker.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum EndRule {
    #[default]
    Required,
    Optional,
}

impl BulkPutCommand {
    const REPORTS_MAX: usize = 10_000;

    /// A put into a table with all defaults, as a bare path asks for.
    pub(crate) fn of_path(path: &[String]) -> Self {
        Self { table: Some(path.join(".")), end: EndRule::Optional, ..Self::default() }
    }

    pub(crate) fn reports_max(&self) -> usize {
        self.reports_max.unwrap_or(Self::REPORTS_MAX).min(Self::REPORTS_MAX)
    }

    /// Refuses what the caller may not put.
    pub(crate) fn check(&self, caller: &Caller) -> Result<()> {
        let on_existing = self.options()?.on_existing;
        match &self.table {
            Some(table) => caller.check_put(table, on_existing),
            None => {
                caller.check_pairs(Right::Insert)?;
                match on_existing {
                    OnExisting::Keep | OnExisting::Fail => Ok(()),
                    _ => caller.check_pairs(Right::Update),
                }
            }
        }
    }

    /// How the rows live.
    pub(crate) fn ttl(&self) -> Result<Option<Duration>> {
        self.ttl.as_deref().map(|text| time("ttl", text)).transpose()
    }

    pub(crate) fn options(&self) -> Result<BulkPutOptions> {
        let default = BulkPutOptions::default();
        let flush_interval =
            self.flush_interval.as_deref().map(|text| time("flush_interval", text));
        Ok(BulkPutOptions {
            on_existing: self.on_existing.map_or(OnExisting::Keep, OnExisting::from),
            durability: self.durability.map_or(Durability::Write, Durability::from),
            errors_max: self.errors_max.as_deref().map_or(Ok(ErrorsMax::Unlimited), errors_max)?,
            flush_interval: flush_interval.transpose()?.or(default.flush_interval),
            memory_bytes_max: self.memory_bytes,
            ..default
        })
    }

    /// Whether the stream may share a load with those of other clients. What stops the load of one
    /// would stop that of all.
    pub(crate) fn shares_load(&self) -> bool {
        self.job.is_none()
            && self.errors_max.is_none()
            && self.memory_bytes.is_none()
            && self.reports == ReportsChoice::First
            && !matches!(self.on_existing, Some(ExistingChoice::Fail))
    }

    /// What all streams of one job agree on.
    pub(crate) fn terms(&self) -> String {
        format!(
            "on_existing {:?}, durability {:?}, errors_max {:?}, flush_interval {:?}, \
             memory_bytes {:?}",
            self.on_existing.unwrap_or(ExistingChoice::Keep),
            self.durability.unwrap_or(DurabilityChoice::Write),
            self.errors_max.as_deref().unwrap_or("unlimited"),
            self.flush_interval.as_deref().unwrap_or("default"),
            self.memory_bytes,
        )
    }
}

fn time(name: &str, text: &str) -> Result<Duration> {
    parse_time(text).ok_or_else(|| {
        Error::invalid(format!("{name} is `{text}`: give a time, such as 500ms, 30s or 7d"))
    })
}

/// A limit of errors as JSON has it: a count is a number or text.
#[derive(Deserialize)]
#[serde(untagged, expecting = "errors_max is a count, or a share such as \"1%\"")]
enum CountOrShare {
    Count(u64),
    Text(String),
}

/// As text in any case: streams of one job may write the same count in both ways.
fn count_or_share<'de, D>(deserializer: D) -> std::result::Result<Option<String>, D::Error>
where
    D: Deserializer<'de>,
{
    let given = Option::<CountOrShare>::deserialize(deserializer)?;
    Ok(given.map(|given| match given {
        CountOrShare::Count(count) => count.to_string(),
        CountOrShare::Text(text) => text,
    }))
}

fn errors_max(text: &str) -> Result<ErrorsMax> {
    let parsed = match text.strip_suffix('%') {
        Some(percent) => percent.trim().parse().ok().map(ErrorsMax::Percent),
        None => text.parse().ok().map(ErrorsMax::Count),
    };
    parsed.ok_or_else(|| {
        Error::invalid(format!("errors_max is `{text}`: give a count, or a share such as 1%"))
    })
}

/// Gets rows by keys.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct BulkGetCommand {
    pub(crate) table: Option<String>,
    pub(crate) pairs: bool,
    pub(crate) direction: DirectionChoice,
    pub(crate) limit_per_key: Option<u64>,
    pub(crate) columns: Option<Vec<String>>,
    pub(crate) range: Option<RangeCommand>,
    pub(crate) keys_only: bool,
    pub(crate) versions: bool,
    /// Ancestor and child tables whose rows come along.
    pub(crate) relatives: Vec<String>,
    /// Rows in all, at most.
    pub(crate) limit: Option<u64>,
    /// Whether each row tells the number of the key that it answers.
    pub(crate) origins: bool,
    pub(crate) consistency: ConsistencyChoice,
    pub(crate) timeout_ms: Option<u64>,
    /// How deep below the keys of pairs to look.
    pub(crate) depth: DepthChoice,
    /// A range of the component right below the keys of pairs.
    pub(crate) components: Option<ComponentsCommand>,
}

/// A range of the minor component right below a key. Its ends belong to it, unless it says
/// otherwise.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ComponentsCommand {
    from: Option<String>,
    to: Option<String>,
    from_exclusive: bool,
    to_exclusive: bool,
    prefix: String,
}

impl From<ComponentsCommand> for KeyRange {
    fn from(command: ComponentsCommand) -> Self {
        KeyRange {
            start: command.from.map(|from| (from.into_bytes(), !command.from_exclusive)),
            end: command.to.map(|to| (to.into_bytes(), !command.to_exclusive)),
            prefix: command.prefix.into_bytes(),
        }
    }
}

/// A range of the first key column that the keys leave open. Its ends belong to it, unless it says
/// otherwise.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RangeCommand {
    pub(crate) column: String,
    pub(crate) from: Option<serde_json::Value>,
    pub(crate) to: Option<serde_json::Value>,
    #[serde(default = "RangeCommand::inclusive")]
    pub(crate) from_inclusive: bool,
    #[serde(default = "RangeCommand::inclusive")]
    pub(crate) to_inclusive: bool,
}

/// The rows that one message holds about.
pub(crate) const MESSAGE_ROWS: usize = 8_192;
/// The bytes that one message holds about.
pub(crate) const MESSAGE_BYTES: usize = 2 << 20;

impl BulkGetCommand {
    /// Refuses what the caller may not read.
    pub(crate) fn check(&self, caller: &Caller) -> Result<()> {
        match &self.table {
            Some(table) => caller.check_table(Right::Read, table)?,
            None => caller.check_pairs(Right::Read)?,
        }
        self.relatives.iter().try_for_each(|table| caller.check_table(Right::Read, table))
    }

    /// The options, for this table.
    ///
    /// # Errors
    /// `Invalid` for a range that is not of its column.
    pub(crate) fn options(&self, table: &TableSchema) -> Result<BulkGetOptions> {
        Ok(BulkGetOptions {
            direction: self.direction.into(),
            limit_per_key: self.limit_per_key,
            columns: self.columns.clone(),
            range: self.range.as_ref().map(|range| range.of(table)).transpose()?,
            keys_only: self.keys_only,
            relatives: self.relatives.clone(),
            limit: self.limit,
            origins: self.origins,
            consistency: Some(self.consistency.into()),
            timeout: self.timeout_ms.map(Duration::from_millis),
            batch_rows_max: MESSAGE_ROWS,
            batch_bytes_max: MESSAGE_BYTES,
            ..BulkGetOptions::default()
        })
    }

    /// The options, for pairs.
    ///
    /// # Errors
    /// `Invalid` for what is for tables alone.
    pub(crate) fn pair_options(&self) -> Result<PairGetOptions> {
        let is_of_tables = self.columns.is_some()
            || self.range.is_some()
            || !self.relatives.is_empty()
            || self.limit.is_some()
            || self.origins;
        if is_of_tables {
            return Err(Error::invalid(
                "columns, range, relatives, limit and origins are for tables: pairs have \
                 `keys_only`, `limit_per_key` and `components`",
            ));
        }
        Ok(PairGetOptions {
            consistency: Some(self.consistency.into()),
            timeout: self.timeout_ms.map(Duration::from_millis),
            depth: self.depth.into(),
            direction: self.direction.into(),
            keys_only: self.keys_only,
            limit_per_key: self.limit_per_key,
            range: self.components.clone().map(KeyRange::from),
            batch_rows_max: Some(MESSAGE_ROWS),
            batch_bytes_max: Some(MESSAGE_BYTES),
            ..PairGetOptions::default()
        })
    }
}

impl RangeCommand {
    fn of(&self, table: &TableSchema) -> Result<FieldRange> {
        let column = &table.columns[table.require_column(&self.column)?];
        let end = |end: &Option<serde_json::Value>, inclusive: bool| {
            let end = end.as_ref().map(|end| key_value_of(end, column));
            end.map(|end| end.map(|end| (end, inclusive))).transpose()
        };
        Ok(FieldRange {
            column: self.column.clone(),
            low: end(&self.from, self.from_inclusive)?,
            high: end(&self.to, self.to_inclusive)?,
        })
    }

    fn inclusive() -> bool {
        true
    }
}

/// Scans a table, or the pairs.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ScanCommand {
    pub(crate) table: Option<String>,
    pub(crate) pairs: bool,
    pub(crate) columns: Option<Vec<String>>,
    pub(crate) direction: DirectionChoice,
    pub(crate) limit: Option<u64>,
    pub(crate) limit_per_shard_key: Option<u64>,
    /// A range of the first key column.
    pub(crate) range: Option<RangeCommand>,
    pub(crate) keys_only: bool,
    /// Whether rows and pairs come with `_version` and `_expires_at_ms`.
    pub(crate) versions: bool,
    /// Versions of rows that are left out.
    pub(crate) known_versions: KnownVersions,
    /// The number of the part, from 0.
    pub(crate) part: usize,
    pub(crate) parts: usize,
    /// Where a part begins and ends, in base64, as a ticket of GetFlightInfo tells it.
    pub(crate) bounds: Option<String>,
}

impl Default for ScanCommand {
    fn default() -> Self {
        Self {
            table: None,
            pairs: false,
            columns: None,
            direction: DirectionChoice::default(),
            limit: None,
            limit_per_shard_key: None,
            range: None,
            keys_only: false,
            versions: false,
            known_versions: KnownVersions::default(),
            part: 0,
            parts: 1,
            bounds: None,
        }
    }
}

impl ScanCommand {
    /// Refuses what the caller may not read.
    pub(crate) fn check(&self, caller: &Caller) -> Result<()> {
        match &self.table {
            Some(table) => caller.check_table(Right::Read, table),
            None => caller.check_pairs(Right::Read),
        }
    }

    /// The options, for this table.
    ///
    /// # Errors
    /// `Invalid` for a range that is not of its column, and for limits beside known versions.
    pub(crate) fn options(&self, table: &TableSchema) -> Result<TableScanOptions> {
        let is_limited = self.limit.is_some() || self.limit_per_shard_key.is_some();
        if is_limited && !self.known_versions.is_empty() {
            return Err(Error::invalid(
                "a limit counts rows of `known_versions`, too: leave one of them out",
            ));
        }
        Ok(TableScanOptions {
            columns: self.columns.clone(),
            direction: self.direction.into(),
            limit: self.limit,
            limit_per_shard_key: self.limit_per_shard_key,
            range: self.range.as_ref().map(|range| range.of(table)).transpose()?,
            keys_only: self.keys_only,
            batch_rows_max: MESSAGE_ROWS,
            ..TableScanOptions::default()
        })
    }

    /// The options, for pairs.
    ///
    /// # Errors
    /// `Invalid` for what is for tables alone.
    pub(crate) fn pair_options(&self) -> Result<PairGetOptions> {
        let is_of_tables =
            self.columns.is_some() || self.range.is_some() || self.limit_per_shard_key.is_some();
        let is_cut = self.parts > 1 || self.bounds.is_some();
        if is_of_tables || is_cut || !self.known_versions.is_empty() {
            return Err(Error::invalid(
                "columns, range, limit_per_shard_key, known_versions, parts and bounds are for \
                 tables, not for pairs",
            ));
        }
        Ok(PairGetOptions {
            direction: self.direction.into(),
            keys_only: self.keys_only,
            batch_rows_max: Some(MESSAGE_ROWS),
            batch_bytes_max: Some(MESSAGE_BYTES),
            ..PairGetOptions::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_there_is_not_is_named() {
        let error = parse::<FlightCommand>("the command", br#"{"bulk_pout": {}}"#).unwrap_err();
        assert!(error.message().contains("bulk_pout"), "{error}");
    }

    #[test]
    fn an_option_that_there_is_not_is_named() {
        let error =
            parse::<FlightCommand>("the command", br#"{"bulk_put": {"tabel": "t"}}"#).unwrap_err();
        assert!(error.message().contains("tabel"), "{error}");
    }

    #[test]
    fn errors_are_limited_by_count_or_share() {
        assert_eq!(errors_max("12").unwrap(), ErrorsMax::Count(12));
        assert_eq!(errors_max("1.5%").unwrap(), ErrorsMax::Percent(1.5));
        assert!(errors_max("some").unwrap_err().message().contains("some"));
    }

    #[test]
    fn a_bare_path_needs_no_marker_and_json_does() {
        assert_eq!(BulkPutCommand::of_path(&["t".into()]).end, EndRule::Optional);
        let FlightCommand::BulkPut(put) = parse("x", br#"{"bulk_put": {"table": "t"}}"#).unwrap()
        else {
            panic!("a bulk put");
        };
        assert_eq!(put.end, EndRule::Required);
    }
}

//! `tonnage check`: verifies checksums, rows and indexes, and repairs.

use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow::array::{ArrayRef, RecordBatch, StringArray, UInt64Array};
use clap::Args;
use tonnage::{CheckReport, Error, ErrorKind, Index, Statistics, Store};
use tonnage_client::{Connection, Repaired};

use crate::args::{Globals, TimeoutArgs};
use crate::display::{Console, ProgressSample};
use crate::exit::{CliResult, Exit, Failure};
use crate::output::OutputArgs;
use crate::stderr;
use crate::values::{self, counted, grouped};

/// Read everything, verify every checksum and decode every row (exit code 1 when damage is found)
#[derive(Args)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    output: OutputArgs,
    /// Open a store whose write-ahead log or list of data files is damaged, with what precedes the
    /// damage. What follows it is lost for good
    #[arg(long)]
    cut_log: bool,
    /// Then repair: finish indexes, remove stale entries from the others, delete chunks that no
    /// large object needs. Damage needs a backup
    #[arg(long)]
    repair: bool,
    /// With --repair on a cluster: remove stale entries that were stored longer ago than this
    /// [default: 1h]. A shorter time is for tables without writers
    #[arg(long, requires = "repair", value_name = "DURATION", value_parser = values::duration_or_zero)]
    older_than: Option<Duration>,
    #[command(flatten)]
    time: TimeoutArgs,
}

impl CheckArgs {
    pub(crate) fn run(&self, globals: &Globals) -> CliResult {
        self.time.start();
        let started = Instant::now();
        let connection = self.connection(globals)?;
        // Printed first: what opening gave up stays known if the check itself ends early.
        report_cut_logs(&connection.statistics()?);
        let watch = Console::new(globals).watch(|| ProgressSample {
            done: 0,
            total: None,
            text: "checking".to_owned(),
            figures: Vec::new(),
        });
        let checked = match &connection {
            Connection::Remote(_) if self.older_than.is_some() => {
                return Err(Failure::usage(
                    "--older-than goes with a store on a cluster, not with a server",
                ));
            }
            Connection::Remote(store) if self.repair => {
                store.check_and_repair().map(|(report, repaired)| (report, Some(repaired)))
            }
            connection => connection.check().map(|report| (report, None)),
        };
        let (report, repaired) = checked.map_err(|error| damage_is_a_finding(error.into()))?;
        // The progress ends before the report: both write to the terminal.
        drop(watch);
        self.write(&report)?;
        for damage in &report.damages {
            stderr::line(format_args!("tonnage: damaged: {}: {}", damage.location, damage.what));
        }
        for warning in &report.verified.warnings {
            stderr::line(format_args!("tonnage: warning: {warning}"));
        }
        for statement in &report.unfinished_indexes {
            stderr::line(format_args!(
                "tonnage: an index was not made to its end, carry this out again: {statement}"
            ));
        }
        globals.info(format_args!(
            "checked {}, {} bytes in {:.1} s: {}",
            counted(report.verified.rows, "entry", "entries"),
            grouped(report.verified.bytes),
            started.elapsed().as_secs_f64(),
            match report.damage_count {
                0 => "sound".to_owned(),
                count => {
                    let places = counted(count, "damaged place", "damaged places");
                    format!("{places}: restore from a copy")
                }
            }
        ));
        // A server repairs within its check. A store is repaired once its report is out, whatever
        // follows.
        match (&connection, repaired) {
            (Connection::Embedded(store), _) if self.repair => {
                report_repairs(globals, &repair(store, &report, self.older_than)?)
            }
            (_, Some(repaired)) => report_repairs(globals, &repaired),
            _ => {}
        }
        Ok(if report.is_sound() { Exit::Success } else { Exit::Rejected })
    }

    fn connection(&self, globals: &Globals) -> CliResult<Connection> {
        if !self.cut_log {
            return globals.connection().map_err(damage_is_a_finding);
        }
        globals.open_to_damage().map(Connection::Embedded).map_err(damage_is_a_finding)
    }

    fn write(&self, report: &CheckReport) -> CliResult<()> {
        let tables = report.rows.iter().map(|(table, rows)| (table.as_str(), *rows));
        let (names, rows): (Vec<_>, Vec<_>) =
            tables.chain([("(key/value pairs)", report.pairs)]).unzip();
        let columns: [(&str, ArrayRef); 2] = [
            ("table", Arc::new(StringArray::from(names))),
            ("rows", Arc::new(UInt64Array::from(rows))),
        ];
        let batch = RecordBatch::try_from_iter(columns).map_err(|error| {
            Error::internal("the counts cannot be put together").with_source(error)
        })?;
        let mut output = self.output.open(batch.schema())?;
        output.write(&batch)?;
        output.finish()?;
        Ok(())
    }
}

/// Mends what a check has found.
fn repair(
    store: &Store,
    report: &CheckReport,
    older_than: Option<Duration>,
) -> CliResult<Repaired> {
    let age = older_than.unwrap_or(Index::CLEANED_AGE);
    let mut repaired = Repaired::default();
    // Indexes are finished first: cleaning takes only those that are ready.
    for statement in &report.unfinished_indexes {
        store.execute(statement)?;
        repaired.indexes.push(statement.clone());
    }
    if report.stale_index_entries > 0 {
        for table in store.tables() {
            for index in table.indexes()?.iter().filter(|index| index.is_ready()) {
                match index.clean_older(age) {
                    // An index that cannot be cleaned keeps no other from it.
                    Err(error) if error.kind() == ErrorKind::Unsupported => {
                        repaired.skipped.push(error.to_string());
                    }
                    cleaned => {
                        let cleaned = cleaned?;
                        repaired.entries += cleaned.removed;
                        if cleaned.young > 0 {
                            repaired.skipped.push(left_young(index, cleaned.young, age));
                        }
                    }
                }
            }
        }
    }
    // Chunks of large objects belong to no index: their count does not depend on stale entries.
    repaired.chunks = store.kv().clean_lobs()?.chunks;
    Ok(repaired)
}

/// Entries that stay for now.
fn left_young(index: &Index, entries: u64, age: Duration) -> String {
    format!(
        "index {} on {}: {} stale entries are younger than {age:?}, so their rows may be on their way: repair again later",
        index.name(),
        index.table_path(),
        grouped(entries)
    )
}

fn report_repairs(globals: &Globals, repaired: &Repaired) {
    for statement in &repaired.indexes {
        globals.info(format_args!("made: {statement}"));
    }
    repaired.skipped.iter().for_each(|skipped| globals.info(skipped));
    globals.info(format_args!(
        "took {} out of indexes, deleted {} of large objects",
        counted(repaired.entries, "stale entry", "stale entries"),
        counted(repaired.chunks, "chunk", "chunks")
    ));
}

/// What was given up of logs and MANIFESTs when the store was opened: what a crash had torn, or
/// what followed damage.
fn report_cut_logs(statistics: &Statistics) {
    for shard in &statistics.shards {
        for (name, bytes) in &shard.details {
            if let Some(log) =
                name.strip_prefix("log_").and_then(|name| name.strip_suffix("_bytes_given_up"))
            {
                let (location, bytes) = (&shard.location, grouped(*bytes));
                stderr::line(format_args!(
                    "tonnage: {location}: the last {bytes} bytes of the write-ahead log {log} were given up"
                ));
            }
            if let Some(manifest) =
                name.strip_prefix("manifest_").and_then(|name| name.strip_suffix("_bytes_given_up"))
            {
                let (location, bytes) = (&shard.location, grouped(*bytes));
                stderr::line(format_args!(
                    "tonnage: {location}: the last {bytes} bytes of MANIFEST-{manifest} were given up, and the rows of \
                     the data files that only they list"
                ));
            }
        }
    }
}

/// A check asks for damage: finding some is an answer, not a failure to run.
fn damage_is_a_finding(failure: Failure) -> Failure {
    match failure.error.kind() {
        ErrorKind::Corruption => Failure { exit: Exit::Rejected, ..failure },
        _ => failure,
    }
}

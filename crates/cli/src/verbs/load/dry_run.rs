//! `--dry-run`: reads, converts and checks every record against the table, and reports what would
//! fail. It writes nothing.

use std::sync::Arc;
use std::time::Instant;

use tonnage::{
    BulkPutCallbacks, BulkPutReport, Counts, EntryBatch, EntryStream, Error, FailedEntry, Payload,
    StreamReport, TableEntry,
};

use crate::args::Globals;
use crate::display::Console;
use crate::exit::{CliResult, Exit, Failure};
use crate::interrupt;
use crate::load::{FailureReporter, FileInput, FileStream, JobArgs, LoadSummary, LoadTarget};

pub(super) fn run(
    globals: &Globals,
    job: &JobArgs,
    entry: Arc<TableEntry>,
    inputs: Vec<FileInput>,
) -> CliResult {
    let started = Instant::now();
    let cancel = interrupt::cancel();
    let console = Console::new(globals);
    let target = LoadTarget::Table { path: entry.schema.path.as_str().into(), ttl: None };
    let streams: Vec<_> = inputs.into_iter().map(|input| FileStream::new(input, &target)).collect();
    let states: Vec<_> = streams.iter().map(FileStream::state).collect();
    let failures = FailureReporter::new(&console, job.rejects.as_deref(), states.clone());
    let mut report = BulkPutReport::default();
    let mut stopped = None;
    // A failure stops the reading, not the loop: files after it are in the report, as not read.
    for (number, mut stream) in streams.into_iter().enumerate() {
        let mut tally =
            StreamReport { stream: number, name: stream.name(), ..StreamReport::default() };
        while stopped.is_none() {
            match stream.next_batch() {
                Ok(Some(batch)) => check_batch(&entry, batch, &mut tally, &failures)?,
                Ok(None) => {
                    tally.completed = true;
                    break;
                }
                Err(error) => stopped = Some(Failure::new(Exit::Stopped, error)),
            }
            if cancel.is_cancelled() {
                stopped = Some(Failure::interrupted());
            }
        }
        report.total.read += tally.counts.read;
        report.total.failed += tally.counts.failed;
        report.streams.push(tally);
    }
    failures.finish().map_err(Failure::stopped)?;
    // The limit of errors is judged last: a dry run is for finding all of them.
    let stopped = stopped.or_else(|| too_many(job, &report.total));
    report.seconds = started.elapsed().as_secs_f64();
    let exit = match &stopped {
        Some(failure) => failure.exit,
        None if report.total.failed > 0 => Exit::Rejected,
        None => Exit::Success,
    };
    let error = stopped.as_ref().map(|failure| failure.error.to_string());
    let summary = LoadSummary::new(&entry.schema.path, &report, &[], exit, error)
        .of_dry_run()
        .with_left_out(&states);
    globals.info(&summary);
    let written = summary.write(job.summary.as_deref()).map_err(Failure::stopped);
    stopped.map_or(written.map(|()| exit), Err)
}

/// What a load would be stopped by.
fn too_many(job: &JobArgs, counts: &Counts) -> Option<Failure> {
    let (errors_max, Counts { read, failed, .. }) = (job.errors_max(), counts);
    errors_max.is_exceeded(*failed, *read, true).then(|| {
        let what = format!("{failed} of {read} entries would fail, more than");
        let error = Error::invalid(format!("{what} --errors-max ({errors_max}) allows"));
        Failure::new(Exit::Stopped, error)
    })
}

/// Counts a batch, and says what of it would fail.
fn check_batch(
    entry: &TableEntry,
    batch: EntryBatch,
    tally: &mut StreamReport,
    failures: &FailureReporter,
) -> CliResult<()> {
    let Counts { read, failed, .. } = &mut tally.counts;
    let next = *read;
    *read += batch.payload.len() as u64 + batch.unread.len() as u64;
    let mut fail = |position: u64, column: Option<&str>, reason: &str| {
        *failed += 1;
        failures.failed(&FailedEntry {
            stream: tally.stream,
            stream_name: &tally.name,
            position,
            table: Some(entry.schema.path.as_str()),
            column,
            reason,
            entry: None,
        })
    };
    for unread in &batch.unread {
        fail(unread.position, unread.column.as_deref(), &unread.reason)?;
    }
    let Payload::Batch { rows, .. } = &batch.payload else { return Ok(()) };
    // Rows are counted on where none is left out. Else each batch says the record of each row.
    let position =
        |row: usize| batch.positions.as_ref().map_or(next + row as u64, |positions| positions[row]);
    // Unnumbered: the store would note drawn numbers as taken, and a dry run writes nothing.
    let aligned = match batch.is_computed {
        true => entry.codec.align_unnumbered(rows)?,
        false => entry.codec.align_given(rows)?,
    };
    for rejected in aligned.rejected {
        fail(
            position(rejected.row),
            Some(rejected.column.as_str()).filter(|name| !name.is_empty()),
            &rejected.reason,
        )?;
    }
    Ok(())
}

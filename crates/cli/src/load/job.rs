//! Runs a load, from its options to its report.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use clap::Args;
use tonnage::{
    BulkPutCallbacks, BulkPutError, BulkPutOptions, BulkPutReport, EntryStream, ErrorKind,
    ErrorsMax, Progress, pair_stream,
};
use tonnage_client::Connection;
use tonnage_files::{CsvOptions, Encoding, Format, ReadOptions, Source, StopToken};

use super::error_wording;
use super::resume::ResumeFile;
use super::stream::StreamState;
use super::{FailureReporter, FileInput, FileStream, LoadSummary, LoadTarget};
use crate::args::Globals;
use crate::display::{Console, ProgressAs, ProgressSample, Watch};
use crate::exit::{CliResult, Exit, Failure, with_causes};
use crate::interrupt;
use crate::values::{self, CsvQuote, Durability, ExistingPolicy, grouped};

/// Options of every load.
#[derive(Args, Clone)]
pub(crate) struct JobArgs {
    /// Files, pipes, https URLs, or patterns such as 'data/*.csv.gz', 's3://bucket/day/*.parquet'
    /// (also gs:// and az://), 'data.zip/*.csv' and 'book.xlsx/Sheet1' (with *, ? and [a-z]; braces
    /// are the shell's); - is standard input
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<String>,
    /// What to do with entries whose key exists, in the table or in an earlier record of this load
    #[arg(long, value_enum, default_value_t)]
    on_existing: ExistingPolicy,
    /// Stop if more entries fail than this number, or share such as 2%. The load stops after the
    /// batch in which it finds that, and stores what was good until then [default: never stop]
    #[arg(long, value_parser = values::errors_max, value_name = "N|N%")]
    errors_max: Option<ErrorsMax>,
    /// Keep rejected records in this directory, in their original form and with their reasons. What
    /// it holds of other inputs stays; a load that continues with --resume adds to what it kept
    #[arg(long, value_name = "DIR")]
    pub(crate) rejects: Option<PathBuf>,
    /// Note in this file what is stored, and continue where an earlier run ended. An input that has
    /// changed since (its size, its time, its first or last 64 KiB), or that is read with other
    /// options, is read anew
    #[arg(long, value_name = "FILE")]
    pub(crate) resume: Option<PathBuf>,
    /// Maximum rows a second
    #[arg(long, value_name = "N", value_parser = values::count)]
    rate: Option<u64>,
    /// Durability: when entries count as stored. With --resume it is always fsync
    #[arg(long, value_enum, default_value_t)]
    durability: Durability,
    /// Make what was read durable at least this often, and note it with --resume: for inputs that
    /// last long, such as the output of a program that runs on [default: 60s]
    #[arg(long, value_name = "DURATION", value_parser = values::duration)]
    sync_every: Option<Duration>,
    /// Number of files to read in parallel [default: the number of cores]
    #[arg(long, value_name = "N")]
    stream_parallelism: Option<usize>,
    /// Memory limit of the load, such as 512M or 2G [default: an eighth of the machine's; with a
    /// server the load's share of its load_memory, which is also the most]
    #[arg(long, value_parser = values::bytes, value_name = "SIZE")]
    memory: Option<usize>,
    /// Write a report as JSON to this file. If its tells_new is false, blind overwriting did not
    /// look which rows were new, and all stored rows count as inserted
    #[arg(long, value_name = "FILE")]
    pub(crate) summary: Option<PathBuf>,
    /// How progress is shown on standard error. As json, durable counts the records before which all
    /// are durable
    #[arg(long, value_enum, default_value_t)]
    progress: ProgressAs,
    /// Time to live of the entries, such as 12h or 30d [default: that of the table]
    #[arg(long, value_parser = values::duration, value_name = "DURATION")]
    pub(crate) ttl: Option<Duration>,
    #[command(flatten)]
    input: InputArgs,
}

/// How a load ended.
pub(crate) struct LoadExit {
    pub(crate) exit: Exit,
    /// Whether a value did not fit its column, so that another type might have taken it.
    pub(crate) rejected_values: bool,
    /// How many records had a key that existed, in the table or in an earlier record.
    pub(crate) existed: u64,
}

/// How the files are to be read.
#[derive(Args, Clone)]
pub(crate) struct InputArgs {
    /// Format of the files: csv, tsv, jsonl, parquet, arrow, arrow-stream or avro [default: by name,
    /// then by content]
    #[arg(long, value_parser = |text: &str| text.parse::<Format>().map_err(|error| error.to_string()), value_name = "FORMAT")]
    input_format: Option<Format>,
    /// Character between the fields of CSV; tab for a tab [default: a comma; a tab for tsv]
    #[arg(long, value_parser = values::delimiter, value_name = "CHARACTER")]
    delimiter: Option<u8>,
    /// Lines of CSV, or rows of a sheet, above the header or the first record, such as titles: they are
    /// passed over whatever they hold
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    skip_lines: u32,
    /// Character around fields of CSV that hold delimiters or line ends; none if quotes are characters
    /// as any other [default: a double quote]
    #[arg(long, value_parser = values::quote, value_name = "CHARACTER")]
    quote: Option<CsvQuote>,
    /// Character that makes a following delimiter, quote, line end or itself a plain character,
    /// such as a backslash. With it, \N without quotes is NULL [default: none; doubled quotes mean
    /// a quote always]
    #[arg(long, value_parser = values::escape, value_name = "CHARACTER")]
    escape: Option<u8>,
    /// Read the first line of CSV as a record; columns are those of the table in order, or those of
    /// --columns
    #[arg(long)]
    no_header: bool,
    /// Column names of CSV without a header, comma-separated (needs --no-header)
    #[arg(long, value_delimiter = ',', value_name = "COLUMNS", requires = "no_header")]
    columns: Option<Vec<String>>,
    /// Text that means NULL where it is not in quotes, such as NA; may be repeated [default:
    /// nothing between commas]
    #[arg(long = "null", value_name = "TEXT")]
    nulls: Vec<String>,
    /// Text encoding: utf-8, latin1, windows-1252, utf-16le or utf-16be [default: utf-8, or utf-16
    /// by its byte order mark]
    #[arg(long, value_parser = |text: &str| text.parse::<Encoding>().map_err(|error| error.to_string()), value_name = "ENCODING")]
    encoding: Option<Encoding>,
    /// New name of a column of the files: 'name.first=given'. '.=_' puts an underscore for each dot
    /// in names, which the columns of a table cannot have; may be repeated
    #[arg(long = "rename", value_name = "OLD=NEW", value_parser = parse_rename)]
    renames: Vec<(String, String)>,
    /// Read the folders of the files as columns: 'country=FR/part.csv' has the column country
    #[arg(long)]
    folders: bool,
    /// Path to the array of records in a file that is one JSON object: 'features' or 'data.items'
    #[arg(long, value_delimiter = '.', value_name = "PATH")]
    records: Vec<String>,
}

/// Reads `old=new`.
fn parse_rename(text: &str) -> Result<(String, String), String> {
    match text.rsplit_once('=') {
        Some((old, new)) if !old.is_empty() && !new.trim().is_empty() => {
            Ok((old.to_owned(), new.trim().to_owned()))
        }
        _ => Err(format!("'{text}' names no column anew: write OLD=NEW, or .=_ for all dots")),
    }
}

impl JobArgs {
    /// The files. Each pipe among them is opened once, so this is called once.
    pub(crate) fn sources(&self) -> CliResult<Vec<Source>> {
        let sources = Source::expand(&self.files)?;
        for (place, source) in sources.iter().enumerate().filter(|(_, source)| source.reads_once())
        {
            let name = if source.is_stdin() { "standard input (-)" } else { source.name() };
            let is_same = |other: &Source| other == source || source.is_stdin() && other.is_stdin();
            if sources[..place].iter().any(is_same) {
                return Err(Failure::usage(format!(
                    "{name} is given twice, but a pipe can be read only once"
                )));
            }
            if self.resume.is_some() {
                let what = "cannot be read again from where an earlier run stopped, as pipes cannot: leave out --resume";
                return Err(Failure::usage(format!("{name} {what}")));
            }
        }
        let remote = sources.iter().find(|source| source.is_remote());
        if let (Some(source), Some(_)) = (remote, &self.resume) {
            return Err(Failure::usage(format!(
                "{}: --resume is for files of this machine: leave it out, or get the file first",
                source.name()
            )));
        }
        Ok(sources)
    }

    /// How files are read, without a schema.
    pub(crate) fn read_options(&self) -> CliResult<ReadOptions> {
        let input = &self.input;
        let cores = tonnage::cores();
        // Streams read side by side: each gets its share of the cores.
        let streams = self.stream_parallelism.unwrap_or(cores).clamp(1, self.files.len());
        let mut nulls = vec![String::new()];
        nulls.extend(input.nulls.iter().cloned());
        // What escapes write for NULL, as MySQL and Hive do.
        nulls.extend(input.escape.map(|escape| format!("{}N", char::from(escape))));
        nulls.dedup();
        Ok(ReadOptions {
            format: input.input_format,
            parallelism: (cores / streams).max(1),
            batch_rows: self.batch_rows(streams),
            encoding: input.encoding,
            records: input.records.clone(),
            renames: input.renames.iter().cloned().collect(),
            folders: input.folders,
            stop: StopToken::when(interrupt::is_interrupted),
            csv: CsvOptions {
                delimiter: input.delimiter,
                quote: input.quote.map_or(Some(b'"'), |CsvQuote(quote)| quote),
                escape: input.escape,
                skip_lines: input.skip_lines,
                has_header: !input.no_header,
                columns: input.columns.clone(),
                nulls,
                ..CsvOptions::default()
            },
            ..ReadOptions::default()
        })
    }

    /// The rows of a batch. Nothing of a batch is noted as durable before its end, which a rate may
    /// keep off for longer than records may wait.
    fn batch_rows(&self, streams: usize) -> usize {
        let most = ReadOptions::default().batch_rows;
        let Some(rate) = self.rate else { return most };
        let Some(interval) = self.flush_interval() else { return most };
        // Streams share the rate. Half of what is due: the interval has begun when a batch does.
        let due = rate as f64 * interval.as_secs_f64() / streams as f64 / 2.0;
        (due as usize).clamp(1, most)
    }

    fn flush_interval(&self) -> Option<Duration> {
        self.sync_every.or(BulkPutOptions::default().flush_interval)
    }

    /// Tries what [`JobArgs::run`] refuses before it begins, on a store in memory: for a table that
    /// is to be created.
    pub(crate) fn check(
        &self,
        globals: &Globals,
        in_memory: &Connection,
        table: &str,
    ) -> CliResult<()> {
        if let Some(path) = &self.resume {
            ResumeFile::open(path, &globals.store_display_name(), table)?;
        }
        let none =
            |put: BulkPutError| Failure::new(Exit::Usage, error_wording::reworded(put.error, &[]));
        // Nothing is put, so there is nothing to report.
        let options = self.options(BulkPutOptions::default().callbacks);
        in_memory.bulk_put(vec![pair_stream("nothing", [])], &options).map(drop).map_err(none)
    }

    /// Puts the inputs into the store, and says what became of them. A load that stops is a failure.
    pub(crate) fn run(
        &self,
        globals: &Globals,
        connection: &Connection,
        mut inputs: Vec<FileInput>,
        target: &LoadTarget,
    ) -> CliResult<LoadExit> {
        let resume = match &self.resume {
            Some(path) => Some(Arc::new(ResumeFile::open(
                path,
                &globals.store_display_name(),
                target.name(),
            )?)),
            None => None,
        };
        let names: Vec<_> = inputs.iter().map(|input| input.name().to_owned()).collect();
        let console = Console::showing(globals, self.progress);
        let resumed = resume.as_ref().map_or(0, |resume| resume.skip(&mut inputs, &console));
        let earlier: Vec<_> = names
            .into_iter()
            .filter(|name| !inputs.iter().any(|input| input.name() == name.as_str()))
            .collect();
        let streams: Vec<_> =
            inputs.into_iter().map(|input| FileStream::new(input, target)).collect();
        let states: Vec<_> = streams.iter().map(FileStream::state).collect();
        let failures = FailureReporter::new(&console, self.rejects.as_deref(), states.clone())
            .with_resume(resume.clone());
        let failures = Arc::new(failures);
        let progress = Progress::default();
        let options =
            BulkPutOptions { progress: Some(progress.clone()), ..self.options(failures.clone()) };
        let watch = watch(&console, &states, progress);
        let put = put(connection, streams, &options);
        drop(watch);
        let mut kept = failures.finish().and_then(|()| failures.note_result());
        if let (Some(resume), Err(stopped), Ok(())) = (&resume, &put, &kept) {
            kept = note_partial(resume, &states, stopped);
        }
        let (report, failure) = into_report(put, &states);
        // The rows are stored all the same.
        let failure = failure.or_else(|| kept.err().map(Failure::stopped));
        let exit = match &failure {
            Some(failure) => failure.exit,
            None if report.total.failed > 0 => Exit::Rejected,
            None => Exit::Success,
        };
        let error = failure.as_ref().map(|failure| with_causes(&failure.error));
        let summary = LoadSummary::new(target.name(), &report, &earlier, exit, error)
            .with_resumed(resumed)
            .with_left_out(&states)
            .of_overwriting(self.on_existing == ExistingPolicy::Blind);
        // What was refused before it began has no counts.
        if exit != Exit::Usage {
            globals.info(&summary);
        }
        let written = summary.write(self.summary.as_deref()).map_err(Failure::stopped);
        let end = LoadExit {
            exit,
            rejected_values: failures.rejected_values(),
            existed: report.total.existed,
        };
        failure.map_or(written.map(|()| end), Err)
    }

    /// How many failures are too many.
    pub(crate) fn errors_max(&self) -> ErrorsMax {
        self.errors_max.unwrap_or_default()
    }

    /// A note that outlives its rows would have them skipped.
    fn durability(&self) -> Durability {
        if self.resume.is_some() { Durability::Fsync } else { self.durability }
    }

    fn options(&self, callbacks: Arc<dyn BulkPutCallbacks>) -> BulkPutOptions {
        BulkPutOptions {
            stream_parallelism: self.stream_parallelism,
            memory_bytes_max: self.memory,
            durability: self.durability().into(),
            on_existing: self.on_existing.into(),
            errors_max: self.errors_max(),
            rows_per_second_max: self.rate,
            flush_interval: self.flush_interval(),
            callbacks,
            cancel: interrupt::cancel(),
            ..BulkPutOptions::default()
        }
    }
}

fn put(
    connection: &Connection,
    streams: Vec<FileStream>,
    options: &BulkPutOptions,
) -> Result<BulkPutReport, BulkPutError> {
    // Everything was stored by an earlier run.
    if streams.is_empty() {
        return Ok(BulkPutReport::default());
    }
    let streams =
        streams.into_iter().map(|stream| Box::new(stream) as Box<dyn EntryStream>).collect();
    connection.bulk_put(streams, options)
}

/// Notes how far each stream came, if that is stored.
fn note_partial(
    resume: &ResumeFile,
    states: &[Arc<StreamState>],
    stopped: &BulkPutError,
) -> tonnage::Result<()> {
    if !stopped.flushed {
        return Ok(());
    }
    for (state, stream) in states.iter().zip(&stopped.report.streams) {
        if !stream.completed && stream.counts.read > 0 {
            resume.note(state, false)?;
        }
    }
    Ok(())
}

/// The report, and why the load ended early, if it did.
fn into_report(
    put: Result<BulkPutReport, BulkPutError>,
    states: &[Arc<StreamState>],
) -> (BulkPutReport, Option<Failure>) {
    match put {
        Ok(report) => (report, None),
        Err(BulkPutError { error, report, too_many_errors, .. })
            if !too_many_errors && interrupt::is_interrupted() =>
        {
            (
                *report,
                Some(Failure::interrupted_or_timed_out(error_wording::reworded(error, states))),
            )
        }
        Err(BulkPutError { error, report, too_many_errors, .. }) => {
            let exit = match error.kind() {
                _ if too_many_errors => Exit::Stopped,
                ErrorKind::Internal => Exit::Internal,
                // Refused before it began: an option out of its range.
                ErrorKind::Invalid if report.streams.is_empty() => Exit::Usage,
                _ => Exit::Stopped,
            };
            (*report, Some(Failure::new(exit, error_wording::reworded(error, states))))
        }
    }
}

/// Shows the progress of the load by bytes of the files, since the number of records is unknown.
fn watch(console: &Console, states: &[Arc<StreamState>], progress: Progress) -> Option<Watch> {
    let states = states.to_vec();
    // One input of unknown size makes the total unknown: a share of the rest would mislead.
    let total: Option<u64> = states.iter().map(|state| state.bytes).sum();
    console.watch(move || {
        let counts = progress.total();
        let failed = if counts.failed > 0 {
            format!(", {} failed", grouped(counts.failed))
        } else {
            String::new()
        };
        let bytes = states.iter().map(|state| state.bytes_read()).sum();
        let durable = states.iter().map(|state| state.durable.load(Relaxed)).sum();
        let left_out: u64 = states.iter().map(|state| state.left_out.load(Relaxed)).sum();
        // Records that the condition leaves out never reach the store, so its counts lack them.
        let read = counts.read + left_out;
        let mut figures = vec![
            ("read", read),
            ("inserted", counts.inserted),
            ("existed", counts.existed),
            ("failed", counts.failed),
            ("left_out", left_out),
            ("durable", durable),
            ("bytes", bytes),
        ];
        figures.extend(total.map(|total| ("bytes_total", total)));
        ProgressSample {
            done: bytes,
            total,
            figures,
            text: format!(
                "{} read, {} stored{failed}",
                grouped(read),
                grouped(counts.inserted + counts.existed)
            ),
        }
    })
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Job {
        #[command(flatten)]
        args: JobArgs,
    }

    /// The note was on the disk, its rows were not: after a power failure the next run skipped rows
    /// that were lost.
    #[test]
    fn a_load_that_notes_what_is_stored_stores_it_on_the_disk_first() {
        for durability in ["none", "write", "fsync"] {
            let plain = ["load", "a.csv", "--durability", durability];
            let noting = [&plain[..], &["--resume", "notes"]].concat();
            let of = |words: &[&str]| Job::parse_from(words).args.durability();
            assert_eq!(of(&noting), Durability::Fsync);
            assert_eq!(of(&plain) == Durability::Fsync, durability == "fsync");
        }
    }
}

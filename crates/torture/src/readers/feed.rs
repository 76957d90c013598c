//! Gives a reader one case after another, and compares its answers.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use tonnage::arrow::array::RecordBatch;
use tonnage::arrow::compute::concat_batches;
use tonnage::internal::catch_panic;
use tonnage::{Key, Store};
use tonnage_files::{Format, ReadOptions, RecordReader, Sample, Source, infer_common_schema};
use tonnage_sql::{Sql, SqlOptions, SqlTokens};

use super::mutate::mutated;
use super::sample::{ReaderKind, workbook};
use crate::fallible::Fallible;
use crate::random::SeededRandom;

/// A case that takes longer hangs, or is far too slow. Generous: machines are shared.
const CASE_MAX: Duration = Duration::from_secs(20);
/// Complaints after which a child ends.
const COMPLAINTS_MAX: usize = 20;
const TABLE: &str = "CREATE TABLE t (a LONG, b STRING, d DOUBLE, at TIMESTAMP(3), j JSON, PRIMARY KEY (SHARD(a), b))";

/// `feed READER SEED FIRST CASES SECONDS NOTE`: prints what is wrong, and how many cases there were.
pub(crate) fn feed(words: &[String]) -> Fallible<Vec<String>> {
    let [reader, seed, first, cases, seconds, note] = words else {
        return Err("feed READER SEED FIRST CASES SECONDS NOTE".into());
    };
    let (reader, seed): (ReaderKind, u64) = (ReaderKind::parse(reader)?, seed.parse()?);
    let (first, cases): (u64, u64) = (first.parse()?, cases.parse()?);
    let (seconds, note): (u64, File) = (seconds.parse()?, File::create(note)?);
    // A panic is reported as a complaint.
    std::panic::set_hook(Box::new(|_| {}));
    let (samples, begun) = (reader.samples()?, Instant::now());
    let (mut done, mut complaints) = (0, Vec::new());
    let sql = sql()?;
    for number in first..first.saturating_add(cases) {
        if begun.elapsed().as_secs() >= seconds || complaints.len() >= COMPLAINTS_MAX {
            break;
        }
        // Before the case: a child that hangs or dies at it cannot name it any more.
        note.write_all_at(format!("{number:<20}\n").as_bytes(), 0)?;
        let mut random = SeededRandom::new(seed.wrapping_mul(0x9E37_79B9) ^ number);
        let case = mutated(&samples, reader.words(), &mut random);
        let started = Instant::now();
        let judged =
            catch_panic(|| judge(reader, &case, &sql), |message| format!("PANIC {message}"));
        let wrong = match judged {
            Err(wrong) => Some(wrong),
            Ok(()) if started.elapsed() > CASE_MAX => {
                Some(format!("SLOW {:.0} s", started.elapsed().as_secs_f64()))
            }
            Ok(()) => None,
        };
        let shown: String = case.escape_ascii().to_string().chars().take(600).collect();
        complaints.extend(
            wrong.map(|wrong| format!("case {number}: {}: {shown}", wrong.replace('\n', " "))),
        );
        done += 1;
    }
    println!("COUNT cases {done}");
    Ok(complaints)
}

fn sql() -> tonnage::Result<Sql> {
    let store = Store::open("memory:")?;
    store.execute(TABLE)?;
    Sql::new(store, SqlOptions::default())
}

/// The errors in what a reader returned for a case.
fn judge(reader: ReaderKind, case: &[u8], sql: &Sql) -> Result<(), String> {
    let text = String::from_utf8_lossy(case);
    match reader {
        ReaderKind::Csv | ReaderKind::Gzip => judge_file(Format::Csv, case),
        ReaderKind::JsonLines | ReaderKind::Json | ReaderKind::Zstd => {
            judge_file(Format::JsonLines, case)
        }
        ReaderKind::Parquet => judge_file(Format::Parquet, case),
        ReaderKind::Arrow => judge_file(Format::ArrowFile, case),
        ReaderKind::Avro => judge_file(Format::Avro, case),
        ReaderKind::Xz | ReaderKind::Zip => judge_file(Format::Csv, case),
        ReaderKind::Workbook => judge_workbook(case),
        ReaderKind::Chunk => super::chunk::judge(case),
        ReaderKind::Key => judge_key(&text),
        ReaderKind::Ddl => judge_ddl(&text),
        ReaderKind::Sql => judge_sql(&text, sql),
    }
}

/// All rows of a file, how many records were refused, and whether it ended well.
fn read(
    source: &Source,
    options: &ReadOptions,
) -> Result<(Option<RecordBatch>, u64, bool), String> {
    let Ok(mut reader) = RecordReader::open(source, options) else { return Ok((None, 0, false)) };
    let (mut batches, mut rejected, mut next) = (Vec::new(), 0, 0);
    let mut is_whole = true;
    for batch in reader.by_ref() {
        let Ok(batch) = batch else {
            is_whole = false;
            break;
        };
        let rows = batch.batch.num_rows() as u64 + batch.rejected.len() as u64;
        // Each record becomes a row or is rejected: one that is neither was lost without a word.
        if batch.first_record != next || batch.records != rows {
            return Err(format!("RECORDS {} from {next} are {rows}", batch.records));
        }
        next += batch.records;
        rejected += batch.rejected.len() as u64;
        batches.push(batch.batch);
    }
    batches.retain(|batch| batch.num_rows() > 0);
    // No rows are converted to nothing: arrow cannot build each type that a damaged schema may
    // have.
    if batches.is_empty() {
        return Ok((None, rejected, is_whole));
    }
    let rows =
        concat_batches(&reader.schema(), &batches).map_err(|error| format!("ROWS {error}"))?;
    Ok((Some(rows), rejected, is_whole))
}

fn judge_file(format: Format, case: &[u8]) -> Result<(), String> {
    let source = Source::memory("case", case);
    let plain = ReadOptions { format: Some(format), ..ReadOptions::default() };
    let (rows, rejected, is_whole) = read(&source, &plain)?;
    let small = ReadOptions { batch_rows: 3, parallelism: 2, ..plain.clone() };
    let again = read(&source, &small)?;
    // A batch of columns is read as a whole: of one that meets damage, no row is given.
    let is_cut = format == Format::Parquet && !is_whole && !again.2;
    let is_same = match is_cut {
        true => begin_alike(again.0.as_ref(), rows.as_ref()),
        false => again == (rows.clone(), rejected, is_whole),
    };
    if !is_same {
        return Err(format!(
            "SIZE batches of 3 rows give {:?} rows, {} rejected instead of {:?}, {rejected}",
            again.0.map(|rows| rows.num_rows()),
            again.1,
            rows.map(|rows| rows.num_rows())
        ));
    }
    // The types of a new table take all values that decided them.
    let found = infer_common_schema(std::slice::from_ref(&source), &plain, &Sample::ALL);
    let Ok(found) = found else { return Ok(()) };
    if !found.is_guessed || !found.is_whole || !is_whole {
        return Ok(());
    }
    let typed = ReadOptions { schema: Some(found.schema.into()), ..plain };
    let (typed_rows, typed_rejected, _) = read(&source, &typed)?;
    let count = |rows: &Option<RecordBatch>| rows.as_ref().map(RecordBatch::num_rows);
    if (count(&typed_rows), typed_rejected) != (count(&rows), rejected) && format == Format::Csv {
        return Err(format!(
            "TYPES {:?} rows, {typed_rejected} rejected instead of {:?}, {rejected}",
            count(&typed_rows),
            count(&rows)
        ));
    }
    Ok(())
}

/// Whether the rows of one are the first ones of the other.
fn begin_alike(one: Option<&RecordBatch>, other: Option<&RecordBatch>) -> bool {
    let (Some(one), Some(other)) = (one, other) else { return true };
    let count = one.num_rows().min(other.num_rows());
    one.slice(0, count) == other.slice(0, count)
}

/// A workbook, or a sheet to be put into one: in an archive, checksums shield a sheet from most
/// changes.
fn judge_workbook(case: &[u8]) -> Result<(), String> {
    if case.starts_with(b"PK") {
        return judge_file(Format::Csv, case);
    }
    let packed = workbook(case).map_err(|error| format!("WORKBOOK {error}"))?;
    judge_file(Format::Csv, &packed)
}

fn judge_key(text: &str) -> Result<(), String> {
    let Ok(key) = text.parse::<Key>() else { return Ok(()) };
    match key.to_string().parse::<Key>() {
        Ok(again) if again == key => Ok(()),
        again => Err(format!("KEY {key} reads as {again:?}")),
    }
}

/// What a definition makes is described by a definition that makes the same.
fn judge_ddl(text: &str) -> Result<(), String> {
    if tonnage::parse_ddl(text).is_err() {
        return Ok(());
    }
    let open = || Store::open("memory:").map_err(|error| format!("STORE {error}"));
    let (store, again) = (open()?, open()?);
    let _ = store.execute(text);
    for table in store.tables() {
        let path = table.schema().path.clone();
        let ddl = |store: &Store| store.execute(&format!("DESCRIBE {}", quoted(&path)));
        let made = ddl(&store).map_err(|error| format!("DESCRIBE {error}"))?;
        let made: String = made.iter().map(ToString::to_string).collect();
        again.execute(&made).map_err(|error| format!("DDL {made} is refused: {error}"))?;
        let other = ddl(&again).map_err(|error| format!("DESCRIBE {error}"))?;
        let other: String = other.iter().map(ToString::to_string).collect();
        if made != other {
            return Err(format!("DDL {made} makes {other}"));
        }
    }
    Ok(())
}

fn quoted(path: &str) -> String {
    let names = path.split('.').map(|name| format!("\"{}\"", name.replace('"', "\"\"")));
    names.collect::<Vec<_>>().join(".")
}

fn judge_sql(text: &str, sql: &Sql) -> Result<(), String> {
    let tokens = SqlTokens::read(text);
    let mut behind = 0;
    for token in tokens.tokens() {
        if token.range.start < behind || text.get(token.range.clone()).is_none_or(str::is_empty) {
            return Err(format!("TOKEN {token:?}"));
        }
        behind = token.range.end;
    }
    let _ = sql.describe(text);
    Ok(())
}

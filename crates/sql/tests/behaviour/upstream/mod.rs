//! What bare DataFusion does wrongly, and the repairs of `src/upstream` do right.
//!
//! Each test is named as in `src/upstream/repairs.rs`. It asks DataFusion, without Tonnage, a
//! question that it answers wrongly today. If the test fails because the answer is right, the fault
//! has gone: take the repair out, with its test and its entry.
//!
//! Queries that crash, hang or fill the memory are not here. The registry says of such a
//! repair why it has no test.

mod aggregates;
mod conditions;
mod filtering_table;
mod functions;
mod joins;
mod names;
mod subqueries;
mod windows;

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::prelude::{SessionConfig, SessionContext};

use super::session;

/// What an answer is, of DataFusion or of Tonnage: rows, sorted and with `|` between their values,
/// or an error with these words in it.
#[derive(Clone, Copy)]
enum Said<'a> {
    Rows(&'a [&'a str]),
    Error(&'a str),
}

use Said::{Error, Rows};

/// A query that DataFusion answers wrongly, and Tonnage rightly.
#[track_caller]
fn repaired(query: &str, wrong: Said<'_>, right: Said<'_>) {
    still_wrong(query, wrong);
    check("Tonnage", query, &tonnage(query), right);
}

/// A query that DataFusion answers wrongly.
#[track_caller]
fn still_wrong(query: &str, wrong: Said<'_>) {
    still_wrong_over(&[], query, wrong);
}

/// A query over these tables that DataFusion answers wrongly.
#[track_caller]
fn still_wrong_over(tables: &[(&str, RecordBatch)], query: &str, wrong: Said<'_>) {
    check("bare DataFusion", query, &bare(tables, query), wrong);
}

/// A query that DataFusion answers wrongly where it joins by sorting, as Tonnage does where a join
/// exceeds its memory.
#[track_caller]
fn still_wrong_by_sorting(query: &str, wrong: Said<'_>) {
    // A plan of one part never sorts for a join.
    let mut config = SessionConfig::new().with_target_partitions(2);
    config.options_mut().optimizer.prefer_hash_join = false;
    check("bare DataFusion, by sorting", query, &bare_with(config, &[], query), wrong);
}

#[track_caller]
fn check(whose: &str, query: &str, answer: &Result<Vec<String>, String>, expected: Said<'_>) {
    match (answer, expected) {
        (Ok(rows), Rows(expected)) => {
            assert_eq!(rows, expected, "the answer of {whose} has changed: {query}");
        }
        (Err(message), Error(words)) => {
            assert!(
                message.contains(words),
                "the error of {whose} has changed: {query}\n{message}"
            );
        }
        (answer, _) => panic!("{whose} says something else today: {query}\n{answer:?}"),
    }
}

/// A table of whole numbers.
fn numbers(columns: &[(&str, &[i64])]) -> RecordBatch {
    let column = |values: &[i64]| Arc::new(Int64Array::from(values.to_vec())) as ArrayRef;
    RecordBatch::try_from_iter(columns.iter().map(|(name, values)| (*name, column(values))))
        .unwrap()
}

/// The answer of DataFusion alone.
fn bare(tables: &[(&str, RecordBatch)], query: &str) -> Result<Vec<String>, String> {
    // Answers must hang neither on the number of cores nor on estimates.
    let mut config = SessionConfig::new().with_target_partitions(1);
    config.options_mut().optimizer.join_reordering = tables.is_empty();
    bare_with(config, tables, query)
}

fn bare_with(
    config: SessionConfig,
    tables: &[(&str, RecordBatch)],
    query: &str,
) -> Result<Vec<String>, String> {
    let context = SessionContext::new_with_config(config);
    for (name, rows) in tables {
        let table = filtering_table::FilteringTable::new(rows.clone());
        context.register_table(*name, Arc::new(table)).unwrap();
    }
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let batches = runtime.block_on(async { context.sql(query).await?.collect().await });
    batches.map(|batches| texts(&batches)).map_err(|error| error.to_string())
}

/// The answer of a session of Tonnage.
fn tonnage(query: &str) -> Result<Vec<String>, String> {
    let answer = session().execute(query).and_then(|answer| answer.into_rows()?.into_batch());
    answer.map(|batch| texts(&[batch])).map_err(|error| error.to_string())
}

fn texts(batches: &[RecordBatch]) -> Vec<String> {
    let options = FormatOptions::new().with_null("NULL");
    let mut rows = Vec::new();
    for batch in batches {
        let columns: Vec<_> = batch
            .columns()
            .iter()
            .map(|column| ArrayFormatter::try_new(column, &options).unwrap())
            .collect();
        for row in 0..batch.num_rows() {
            let values: Vec<_> =
                columns.iter().map(|column| column.value(row).to_string()).collect();
            rows.push(values.join("|"));
        }
    }
    rows.sort();
    rows
}

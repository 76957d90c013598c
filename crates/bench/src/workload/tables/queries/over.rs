//! Queries over tables.

use tonnage::Result;

use super::contest::{Contest, both_ways};
use super::question::{Question, Sums};
use crate::generate::mix;
use crate::report::Report;
use crate::report::format::whole;
use crate::system::PutInput;
use crate::workload::tables::call::TableSession;
use crate::workload::tables::options::{Size, Subject};
use crate::workload::tables::rows::{Shape, SmallTables, count_of};

/// Rounds of queries of one row, each with other rows: a store that keeps the plans of texts does
/// not meet the same ones again soon.
const ONE_ROW_ROUNDS: u64 = 32;

pub(super) fn run(session: &TableSession<'_>, report: &mut Report) -> Result<()> {
    let (system, shape) = (session.system, Shape::new(session.options.key));
    for size in session.options.query_sizes() {
        if session.harness.is_over() {
            break;
        }
        let tables = SmallTables::new(&shape, &format!("q{}_{}", size.tables, size.rows), size);
        tables.define(system)?;
        system.bulk_put(PutInput::Tables(tables.batches()?), &session.bulk_options())?;
        system.settle()?;
        for contest in contests(session, size, &tables) {
            contest.hold(session, report)?;
        }
    }
    Ok(())
}

/// What is asked over tables of one size. Large ones are selected only.
fn contests<'a>(session: &TableSession<'a>, size: Size, tables: &SmallTables) -> Vec<Contest<'a>> {
    let (options, system) = (session.options, session.system);
    let contest = |subject, name: String, rounds: Vec<Vec<Question>>, rows| {
        let (size, ways) = (Some(size), both_ways(system));
        Contest { subject, name, size, rounds, rows, ways }
    };
    let (count, rows) = (whole(size.tables as f64), whole(size.rows as f64));
    let name = format!("select all: {count} × {rows} rows");
    let all = contest(Subject::Select, name, vec![select_all(tables)], tables.rows());
    if size.rows != options.rows {
        return vec![all];
    }
    let queries = options.queries as u64;
    let name = format!("one row: {queries} queries, {count} containers");
    let rounds = (0..ONE_ROW_ROUNDS).map(|round| one_row(tables, queries, round)).collect();
    let one_row = contest(Subject::OneRow, name, rounds, queries);
    let aggregates = aggregates(tables);
    let name = format!("aggregates: {} queries, {count} × {rows} rows", aggregates.len());
    let gone_through = tables.rows() * AGGREGATES as u64;
    let aggregates = contest(Subject::Aggregates, name, vec![aggregates], gone_through);
    vec![one_row, all, aggregates]
}

/// Queries of one row each, the tables in turn.
fn one_row(tables: &SmallTables, queries: u64, round: u64) -> Vec<Question> {
    let query = |number: u64| {
        let place = mix(round * queries + number) % tables.rows_each;
        let (shape, table) = (&tables.shape, tables.name(number));
        Question {
            statement: format!("SELECT * FROM {table} WHERE {}", shape.is_at(place)),
            expected: Sums::of([shape.numbers_of(place)].into_iter()),
        }
    };
    (0..queries).map(query).collect()
}

fn select_all(tables: &SmallTables) -> Vec<Question> {
    let expected = Sums::of((0..tables.rows_each).map(|place| tables.shape.numbers_of(place)));
    let query = |table: &String| Question { statement: format!("SELECT * FROM {table}"), expected };
    tables.names.iter().map(query).collect()
}

const AGGREGATES: usize = 5;

/// The five aggregates of each table, each a query.
fn aggregates(tables: &SmallTables) -> Vec<Question> {
    let counts = || (0..tables.rows_each).map(count_of);
    let (rows, sum) = (tables.rows_each as f64, counts().sum::<i64>() as f64);
    let (least, most) = (counts().min().unwrap_or(0) as f64, counts().max().unwrap_or(0) as f64);
    let aggregates: [(&str, f64); AGGREGATES] = [
        ("count(*)", rows),
        ("sum(count)", sum),
        ("avg(count)", sum / rows),
        ("min(count)", least),
        ("max(count)", most),
    ];
    let question = |table: &String, (aggregate, value): (&str, f64)| Question {
        statement: format!("SELECT {aggregate} FROM {table}"),
        expected: Sums::of([value].into_iter()),
    };
    let of_table = |table| aggregates.map(|aggregate| question(table, aggregate));
    tables.names.iter().flat_map(of_table).collect()
}

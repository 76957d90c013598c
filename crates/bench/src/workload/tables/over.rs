//! Queries over tables.

use tonnage::Result;

use super::call::TableSession;
use super::contest::{Contest, both_ways};
use super::options::{Size, Subject};
use super::question::{Question, Sums};
use super::rows::{Shape, SmallTables, count_of};
use super::summary::TableCase;
use crate::generate::mix;
use crate::report::Report;
use crate::report::format::whole;
use crate::system::PutInput;

/// Rounds of queries of one row, each with other rows: a store that keeps the plans of texts does
/// not meet the same ones again soon.
const ONE_ROW_ROUNDS: u64 = 32;

impl TableSession<'_> {
    pub(super) fn over(&self, report: &mut Report) -> Result<()> {
        let shape = Shape::new(self.options.key);
        for size in self.options.query_sizes() {
            if self.harness.is_over() {
                break;
            }
            let tables = SmallTables::new(&shape, &format!("q{}_{}", size.tables, size.rows), size);
            tables.define(self.system)?;
            self.system.bulk_put(PutInput::Tables(tables.batches()?), &self.bulk_options())?;
            self.system.settle()?;
            self.over_size(size, &tables, report)?;
        }
        Ok(())
    }

    /// Queries over tables of one size. Large ones are selected only.
    fn over_size(&self, size: Size, tables: &SmallTables, report: &mut Report) -> Result<()> {
        let mut hold = |subject, name, rounds, rows| {
            let (case, ways) =
                (TableCase { subject, name, size: Some(size) }, both_ways(self.system));
            Contest { case, rounds, rows, ways }.hold(self, report)
        };
        let (count, rows) = (whole(size.tables as f64), whole(size.rows as f64));
        let (queries, is_large) = (self.options.queries as u64, size.rows != self.options.rows);
        if !is_large {
            let name = format!("one row: {queries} queries, {count} containers");
            let rounds = (0..ONE_ROW_ROUNDS).map(|round| one_row(tables, queries, round)).collect();
            hold(Subject::OneRow, name, rounds, queries)?;
        }
        let name = format!("select all: {count} × {rows} rows");
        hold(Subject::Select, name, vec![select_all(tables)], tables.rows())?;
        if is_large {
            return Ok(());
        }
        let questions = aggregates(tables);
        let name = format!("aggregates: {} queries, {count} × {rows} rows", questions.len());
        let gone_through = tables.rows() * AGGREGATES as u64;
        hold(Subject::Aggregates, name, vec![questions], gone_through)
    }
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

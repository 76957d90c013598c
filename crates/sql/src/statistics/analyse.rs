//! ANALYZE: reads tables, and stores what it finds.

use tonnage::{Column, Error, ErrorKind, Result, Table, WriteOptions};

use super::figures::{has_figures, query, quote_identifier, read_figures};
use super::statement::{AnalyzeStatement, AnalyzeTarget};
use super::stored::{
    StoredColumn, StoredStatistics, TABLE, create_statistics_table, delete_dropped_statistics,
    incarnation, read_statistics, write_statistics,
};
use crate::catalog::{CatalogContext, path_of_parts};
use crate::errors::{invalid_at, located};
use crate::planner::Planner;
use crate::session::{Guard, NamedTable, Parameters};
use crate::text::{parse, single};
use crate::views;
use crate::write::made;

/// The most columns that one read finds the figures of: each takes 16 KiB of memory a reader.
const COLUMNS_MAX: usize = 128;
/// The number of tables above which one line reports all.
const TOLD_MAX: usize = 100;

/// Carries out ANALYZE. Returns what it did.
pub(crate) fn analyse_tables(
    planner: &Planner,
    statement: &AnalyzeStatement,
    guard: &Guard,
) -> Result<String> {
    let analysis = AnalyzeRun::new(planner, guard);
    let told = match statement.tables.is_empty() {
        true => analysis.analyse_all()?,
        false => {
            let named = statement.tables.iter().map(|named| analysis.resolve(named));
            let tables = named.collect::<Result<Vec<_>>>()?;
            create_statistics_table(&planner.context.store, guard.time_left())?;
            let each = tables.iter().map(|(table, columns)| analysis.analyse_table(table, columns));
            each.collect::<Result<Vec<_>>>()?
        }
    };
    Ok(describe_analysed(&told))
}

fn describe_analysed(told: &[AnalysisSummary]) -> String {
    let counted = |count: u64, what: &str| match count {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    };
    match told.len() {
        0 => "there is no table to analyse".to_owned(),
        1..=TOLD_MAX => {
            let line = |table: &AnalysisSummary| {
                let columns = counted(table.columns, "column");
                format!("analysed {}: {}, {columns}", table.path, counted(table.rows, "row"))
            };
            told.iter().map(line).collect::<Vec<_>>().join("\n")
        }
        tables => {
            let rows = told.iter().map(|table| table.rows).sum();
            format!("analysed {tables} tables: {}", counted(rows, "row"))
        }
    }
}

/// A table that was read.
struct AnalysisSummary {
    path: String,
    rows: u64,
    columns: u64,
}

/// One run of ANALYZE.
struct AnalyzeRun<'a> {
    planner: Planner,
    guard: &'a Guard,
}

impl<'a> AnalyzeRun<'a> {
    /// It sees what is stored, and not what an open transaction would change.
    fn new(planner: &Planner, guard: &'a Guard) -> Self {
        let context = CatalogContext { transaction: None, ..planner.context.clone() };
        Self { planner: Planner { context, engine: planner.engine.clone() }, guard }
    }

    /// Analyses all tables, and forgets those that are gone.
    fn analyse_all(&self) -> Result<Vec<AnalysisSummary>> {
        let store = &self.planner.context.store;
        let mut tables = store.tables();
        tables.retain(|table| !table.path().eq_ignore_ascii_case(TABLE));
        if tables.is_empty() {
            return Ok(Vec::new());
        }
        create_statistics_table(store, self.guard.time_left())?;
        let mut told = Vec::with_capacity(tables.len());
        for table in &tables {
            let columns: Vec<usize> = (0..table.schema().columns.len()).collect();
            match self.analyse_table(table, &columns) {
                Ok(analysed) => told.push(analysed),
                // It was dropped meanwhile, or is another one now.
                Err(_) if !is_unchanged(store.known_table(table.path()).as_ref(), table) => {}
                Err(error) => return Err(error),
            }
        }
        delete_dropped_statistics(store, &self.write_options())?;
        Ok(told)
    }

    /// A table that is named, with the positions of its columns that are.
    fn resolve(&self, named: &AnalyzeTarget) -> Result<(Table, Vec<usize>)> {
        let store = &self.planner.context.store;
        // A view can be read as a table, so an error that there is none would puzzle.
        let NamedTable { path, place } = &named.table;
        let table =
            named.table.table(store).map_err(|error| match views::query_of(store, path) {
                Ok(Some(_)) => invalid_at(
                    *place,
                    format!("{path} is a view: ANALYZE the tables that it reads"),
                ),
                _ => error,
            })?;
        if path == TABLE {
            let message = "the table of statistics has none itself: ANALYZE another one";
            return Err(invalid_at(*place, message));
        }
        let schema = table.schema().clone();
        if named.columns.is_empty() {
            return Ok((table, (0..schema.columns.len()).collect()));
        }
        let mut columns = Vec::with_capacity(named.columns.len());
        for (name, place) in &named.columns {
            let column = schema.require_column(name).map_err(|error| located(error, *place))?;
            let column_type = schema.columns[column].column_type;
            // Without a list such columns are passed by; but a column that is named must have
            // figures.
            if !has_figures(column_type) {
                let message = format!(
                    "column {name} is {column_type}, whose values are not compared: leave it out"
                );
                return Err(invalid_at(*place, message));
            }
            if !columns.contains(&column) {
                columns.push(column);
            }
        }
        Ok((table, columns))
    }

    /// Reads a table, and keeps what it finds of these columns.
    fn analyse_table(&self, table: &Table, columns: &[usize]) -> Result<AnalysisSummary> {
        let store = &self.planner.context.store;
        let schema = table.schema();
        let columns = columns.iter().map(|column| &schema.columns[*column]);
        let columns: Vec<&Column> =
            columns.filter(|column| has_figures(column.column_type)).collect();
        let estimate = table.rows_estimate()?;
        let (mut rows, mut figures) = (None, Vec::with_capacity(columns.len()));
        for columns in columns.chunks(COLUMNS_MAX) {
            let (counted, more) = self.query_figures(table, columns)?;
            rows.get_or_insert(counted);
            figures.extend(more);
        }
        let rows = rows.unwrap_or_default();
        let told = figures.len() as u64;
        // Only after the read is it known that the table stayed the same meanwhile.
        if !is_unchanged(store.known_table(table.path()).as_ref(), table) {
            return Err(Error::conflict(format!(
                "the columns of table {0} changed while it was read: ANALYZE {0} again",
                table.path()
            )));
        }
        // Columns that are left out keep what is known of them.
        let before = read_statistics(&store.table(TABLE)?, table).ok().flatten();
        let before = before.map(|before| before.columns).unwrap_or_default();
        let is_new = |id: u16| columns.iter().any(|column| column.id == id);
        figures.extend(before.into_iter().filter(|column| !is_new(column.id)));
        let analysed_ms = self.now_ms();
        let found = StoredStatistics { analysed_ms, rows, estimate, columns: figures };
        self.guard.check()?;
        write_statistics(store, table, &found, &self.write_options())?;
        // After the write: a plan in between would note the old figures as the new ones.
        self.planner.context.statistics.note_change();
        Ok(AnalysisSummary { path: table.path().to_owned(), rows, columns: told })
    }

    /// The number of rows, and the figures of some columns, by one read of the table.
    fn query_figures(
        &self,
        table: &Table,
        columns: &[&Column],
    ) -> Result<(u64, Vec<StoredColumn>)> {
        let piece = single(&query(&name_of(table)?, columns))?;
        let tokens = piece.tokens.iter().map(|token| made(token.token.clone()));
        let parsed = parse(tokens.collect(), piece.end)?;
        let (planner, guard) = (&self.planner, self.guard);
        let none = Parameters::default();
        let answer = planner.rows_of(planner.state(guard), parsed, &none, guard.clone());
        let answer =
            answer.and_then(|rows| rows.into_batch()).map_err(|error| with_table(error, table))?;
        if answer.num_rows() != 1 {
            return Err(Error::internal(format!("ANALYZE: {} rows of figures", answer.num_rows())));
        }
        read_figures(columns, &answer)
    }

    fn write_options(&self) -> WriteOptions {
        self.guard.write_options()
    }

    /// When the statement runs, by the clock that its functions have.
    fn now_ms(&self) -> i64 {
        let state = self.planner.state(self.guard);
        let now = state.execution_props().query_execution_start_time;
        now.map_or(0, |now| now.timestamp_millis())
    }
}

/// Whether a table is the one that it was, with the same columns.
fn is_unchanged(now: Option<&Table>, before: &Table) -> bool {
    now.is_some_and(|now| {
        incarnation(now) == incarnation(before) && now.schema().columns == before.schema().columns
    })
}

/// A table as a statement names it.
fn name_of(table: &Table) -> Result<String> {
    let path = table.path().to_ascii_lowercase();
    let parts: Vec<String> = path.split('.').map(str::to_owned).collect();
    let parts = if parts.len() > 3 { vec![path.clone()] } else { parts };
    if path_of_parts(&parts) != path {
        return Err(Error::unsupported(format!(
            "statements find another table under the name of {path}: give the one above it another \
             name than a schema has"
        )));
    }
    Ok(parts.iter().map(|part| quote_identifier(part)).collect::<Vec<_>>().join("."))
}

/// What stopped the read of a table. Time and cancels are the statement's own.
fn with_table(error: Error, table: &Table) -> Error {
    match error.kind() {
        ErrorKind::Cancelled | ErrorKind::TimedOut => error,
        _ => error.at(format_args!("ANALYZE {}", table.path())),
    }
}

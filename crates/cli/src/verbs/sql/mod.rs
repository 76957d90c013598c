//! `tonnage sql`: statements and their answers, or a shell at a terminal.
//!
//! - A text of definitions alone is run by the store. `SHOW TABLES` and `DESCRIBE` answer on
//!   standard output. `DESCRIBE` gives the statement that makes the table, which can be executed
//!   again. The others report on standard error.
//! - Everything else is run by `tonnage-sql`, statement by statement. Rows go to standard output,
//!   counts of changed rows to standard error.

mod fetch_all;
mod server;
mod statement_output;

use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use arrow::array::RecordBatch;
use clap::Args;
use tonnage::{Error, ErrorKind, Statement, Store};
use tonnage_sql::{Answer, Request, Rows, Sql, SqlOptions, SqlTokenKind, SqlTokens};

use crate::args::Globals;
use crate::exit::{CliResult, Exit, Failure};
use crate::output::{LineOutput, OutputArgs, describe_changes, describe_count};
use crate::shell::{Backend, Shell, caret, describe};
use crate::statements::statements;
use crate::{interrupt, values};
use statement_output::StatementOutput;

/// How `--memory` is divided: blocks of the store, the program with what it knows of files and
/// keys, and the rest for statements, at least a part and what a session needs.
const CACHE_PART: usize = 8;
const PROGRAM_BYTES: usize = 150 << 20;
const STATEMENTS_PART_MIN: usize = 4;
const STATEMENTS_MIN: usize = 16 << 20;

/// Run SQL statements, or a shell at a terminal: SELECT, INSERT, UPSERT, UPDATE, DELETE, EXPLAIN,
/// CREATE, ALTER, DROP, SHOW TABLES, DESCRIBE
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SqlArgs {
    /// The store or the server, unless --store names it; then statements, separated by semicolons
    /// [default: standard input]
    #[arg(value_names = ["STORE", "STATEMENTS"], num_args = 0..=2)]
    given: Vec<String>,
    /// Run these statements
    #[arg(long, short, value_name = "STATEMENTS", conflicts_with = "file")]
    command: Option<String>,
    /// Read the statements from a file
    #[arg(long, short, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Read the statements from a file, and carry all out in one call, side by side: aggregates
    /// over the same rows share one read, and one that fails keeps no other from its answer
    #[arg(long, value_name = "FILE", conflicts_with_all = ["file", "command"])]
    fetch_all: Option<PathBuf>,
    /// Make the store if there is none
    #[arg(long)]
    create: bool,
    /// Timeout per statement, such as 30s or 5m
    #[arg(long, value_name = "DURATION", value_parser = values::duration_or_zero)]
    timeout: Option<Duration>,
    /// Memory of the process, about; sorts, joins and groupings spill to disk [default: 1GiB for
    /// these, a quarter of the machine for blocks of the store]
    #[arg(long, value_name = "SIZE", value_parser = values::bytes)]
    memory: Option<usize>,
    #[command(flatten)]
    output: OutputArgs,
}

const EXAMPLES: &str = "\
Examples:
  tonnage sql --store DIR                           a shell over the store in DIR
  tonnage sql 'SELECT maker, count(*), avg(price) FROM phones GROUP BY maker'
  tonnage sql --format jsonl -c 'SELECT * FROM phones.images LIMIT 3'
  tonnage sql \"EXPLAIN SELECT * FROM phones WHERE maker = 'Nokia'\"
  tonnage sql -f statements.sql --timeout 30s
  tonnage sql --fetch-all questions.sql             all in one call, side by side

Each statement is carried out by itself. If one fails, what came before it stays, and the exit
code is 2. It is 3 if the first one is refused.

Without statements, at a terminal, there is a shell: Tab completes, Ctrl-C stops a statement, \
help lists the rest. It remembers what you typed in $XDG_STATE_HOME/tonnage/history, or in the \
file that TONNAGE_HISTORY names. TONNAGE_HISTORY=off keeps nothing. A line that begins with a \
blank is not kept.";

impl SqlArgs {
    pub(crate) fn run(&self, globals: &Globals) -> CliResult {
        let (store, statements) = self.store_and_statements(globals.names_store)?;
        let globals =
            &Globals { store: store.unwrap_or(&globals.store).to_owned(), ..globals.clone() };
        if statements.is_none()
            && self.statements_file().is_none()
            && std::io::stdin().is_terminal()
        {
            return self.shell(globals);
        }
        let text = self.text(statements)?;
        if self.fetch_all.is_some() {
            return self.fetch_all(globals, &text);
        }
        if globals.is_server() {
            return self.run_on_server(globals, &text);
        }
        self.execute_text(globals, &text).map_err(|failure| failure_with_excerpt(&text, failure))
    }

    /// The store and the statements, of which each may be missing. Where --store names the store,
    /// an argument is statements, and a word of them is not taken for another store.
    fn store_and_statements(
        &self,
        is_store_named: bool,
    ) -> CliResult<(Option<&str>, Option<&str>)> {
        let (store, statements) = match self.given.as_slice() {
            [] => (None, None),
            [one] if is_store_named => (None, Some(one.as_str())),
            [one, ..] if is_store_named => {
                return Err(Failure::usage(format!(
                    "--store names the store, so `{one}` is statements: write all of them as one \
                     argument, separated by semicolons"
                )));
            }
            [one] if is_store(one) => (Some(one.as_str()), None),
            [one] => (None, Some(one.as_str())),
            [store, statements, ..] => (Some(store.as_str()), Some(statements.as_str())),
        };
        match (statements, &self.command, self.statements_file()) {
            (Some(_), Some(_), _) | (Some(_), _, Some(_)) => Err(Failure::usage(
                "statements are given twice: give them once, as they are, with -c, -f or --fetch-all",
            )),
            (None, Some(command), _) => Ok((store, Some(command))),
            _ => Ok((store, statements)),
        }
    }

    /// The file that has the statements.
    fn statements_file(&self) -> Option<&PathBuf> {
        self.file.as_ref().or(self.fetch_all.as_ref())
    }

    fn shell(&self, globals: &Globals) -> CliResult {
        if self.output.output.is_some() {
            return Err(Failure::usage(
                "--output is for statements that are given: in the shell write \\o FILE",
            ));
        }
        if self.output.format.is_some_and(|format| !format.is_text()) {
            return Err(Failure::usage(
                "--format: a screen shows table, json, jsonl and csv; in the shell write \\o FILE for the others",
            ));
        }
        let backend = match globals.is_server() {
            true => Backend::of_server(self.connect(globals)?)?,
            false => Backend::Store(self.sql(self.open(globals, self.create)?)?),
        };
        Shell::new(backend, self.output.format).run(&globals.store_display_name(), globals.quiet)
    }

    fn execute_text(&self, globals: &Globals, text: &str) -> CliResult {
        match tonnage::parse_ddl(text) {
            // What cannot be read must not make a store.
            Ok(statements) if statements.is_empty() => {
                Err(Failure::usage("there is no statement: write for instance 'SHOW TABLES'"))
            }
            Ok(_) => self.define(globals, text, self.create || makes_a_table(text)),
            Err(error) if are_definitions(text) => Err(error.into()),
            // Up to the first query everything could be read, so a script may make its store. So
            // may `CREATE TABLE ... AS`, which definitions do not know.
            Err(error) => {
                let is_read = error.kind() == ErrorKind::Unsupported || is_of_queries(text);
                self.query(globals, text, is_read && makes_a_table(text))
            }
        }
    }

    fn define(&self, globals: &Globals, text: &str, create: bool) -> CliResult {
        let store = globals.open_or_create(create)?;
        let (mut output, mut outlet) = (LineOutput::stdout(), StatementOutput::new(&self.output));
        for (number, statement) in statements(text).into_iter().enumerate() {
            let done = match self.timeout {
                None => store.execute(statement),
                Some(timeout) => store.execute_within(statement, timeout),
            };
            for done in
                done.map_err(Failure::from).map_err(|failure| failure_after(number, failure))?
            {
                match self.definition_rows(&store, &done)? {
                    Some(rows) => {
                        std::mem::replace(&mut output, LineOutput::stdout()).finish()?;
                        print_list(&mut outlet, &rows)
                            .map_err(|failure| failure_after(number, failure))?;
                    }
                    None => report_outcome(globals, &mut output, &done)?,
                }
            }
        }
        output.finish()?;
        outlet.finish()?;
        Ok(Exit::Success)
    }

    /// Whether lists of tables and columns are to be rows.
    fn wants_rows(&self) -> bool {
        self.output.format.is_some() || self.output.file().is_some()
    }

    /// A list that was asked for as rows, if it is one.
    fn definition_rows(
        &self,
        store: &Store,
        done: &tonnage::DdlOutcome,
    ) -> CliResult<Option<RecordBatch>> {
        Ok(match done {
            _ if !self.wants_rows() => None,
            tonnage::DdlOutcome::Tables(tables) => Some(describe::names(tables)?),
            tonnage::DdlOutcome::Description(ddl) => match tonnage::parse_ddl(ddl)?.first() {
                Some(Statement::CreateTable { definition, .. }) => {
                    Some(describe::columns(store.table(&definition.path)?.schema())?)
                }
                _ => None,
            },
            _ => None,
        })
    }

    fn query(&self, globals: &Globals, text: &str, create: bool) -> CliResult {
        let cancel = interrupt::cancel();
        let sql = self.sql(self.open(globals, self.create || create)?)?;
        let mut started = Instant::now();
        let mut outlet = StatementOutput::new(&self.output);
        for (number, answer) in sql.script(Request::new(text).cancel(&cancel))?.enumerate() {
            let described = match answer.and_then_interrupted().map_err(unavailable_as_stopped) {
                Ok(Answer::Rows(rows)) => print(&mut outlet, rows).map(describe_count),
                Ok(Answer::Changed(changes)) => Ok(describe_changes(&changes)),
                Ok(Answer::Done(done)) => Ok(done.to_string()),
                Err(failure) => Err(failure),
            };
            let described = described.map_err(|failure| failure_after(number, failure))?;
            globals.info(format_args!("{described} ({:.3} s)", started.elapsed().as_secs_f64()));
            started = Instant::now();
        }
        if sql.is_in_transaction() {
            return Err(Error::invalid(
                "BEGIN opened a transaction that no COMMIT ended: nothing of it is written",
            )
            .into());
        }
        outlet.finish()?;
        Ok(Exit::Success)
    }

    fn open(&self, globals: &Globals, create: bool) -> CliResult<Store> {
        match self.memory {
            Some(memory) => globals.open_with_cache(create, memory / CACHE_PART),
            None => globals.open_or_create(create),
        }
    }

    fn sql(&self, store: Store) -> CliResult<Sql> {
        let defaults = SqlOptions::default();
        if let Some(memory) = self.memory.filter(|memory| *memory < STATEMENTS_MIN) {
            return Err(Failure::usage(format!("--memory is {memory} bytes: give 16M or more")));
        }
        let for_statements = |memory: usize| {
            let rest = memory - memory / CACHE_PART;
            let part = rest.saturating_sub(PROGRAM_BYTES).max(memory / STATEMENTS_PART_MIN);
            part.max(memory.min(STATEMENTS_MIN))
        };
        let memory_bytes_max = self.memory.map_or(defaults.memory_bytes_max, for_statements);
        let options = SqlOptions {
            timeout: self.timeout,
            memory_bytes_max,
            // What bounds the process leaves no memory for more.
            column_cache_bytes_max: self.memory.map(|_| 0),
            ..defaults
        };
        Ok(Sql::new(store, options)?)
    }

    fn text(&self, given: Option<&str>) -> CliResult<String> {
        let read = match (given, self.statements_file()) {
            (Some(text), _) => return Ok(text.to_owned()),
            (None, Some(path)) if path.as_os_str() != "-" => {
                std::fs::read_to_string(path).map_err(|error| (path.display().to_string(), error))
            }
            _ => {
                let mut text = String::new();
                std::io::stdin()
                    .read_to_string(&mut text)
                    .map(|_| text)
                    .map_err(|error| ("standard input".to_owned(), error))
            }
        };
        let text = read.map_err(|(place, error)| {
            Error::invalid(format!("{place}: cannot be read: {error}")).with_source(error)
        })?;
        // Editors of Windows begin a file with a mark.
        Ok(text.strip_prefix('\u{feff}').map_or_else(|| text.clone(), str::to_owned))
    }
}

/// Prints rows as they come. Gives how many came.
fn print(outlet: &mut StatementOutput, rows: Rows) -> CliResult<u64> {
    let mut output = outlet.open(rows.schema().clone())?;
    for batch in rows {
        output.write(&batch.and_then_interrupted().map_err(as_stopped)?)?;
    }
    outlet.close(output)
}

fn print_list(outlet: &mut StatementOutput, rows: &RecordBatch) -> CliResult<()> {
    let mut output = outlet.open(rows.schema())?;
    output.write(rows)?;
    outlet.close(output).map(drop)
}

/// Print answers to standard output, and report other statements on standard error.
fn report_outcome(
    globals: &Globals,
    output: &mut LineOutput,
    done: &tonnage::DdlOutcome,
) -> CliResult<()> {
    match done {
        tonnage::DdlOutcome::Tables(_) | tonnage::DdlOutcome::Description(_) => output.line(done),
        _ => {
            globals.info(done);
            Ok(())
        }
    }
}

/// A statement that was stopped by a signal is not a failure of its own.
trait AndThenInterrupted<T> {
    fn and_then_interrupted(self) -> CliResult<T>;
}

impl<T> AndThenInterrupted<T> for tonnage::Result<T> {
    fn and_then_interrupted(self) -> CliResult<T> {
        self.map_err(|error| {
            if interrupt::is_interrupted() { Failure::interrupted() } else { error.into() }
        })
    }
}

/// What fails when rows are on their way was done in part.
fn as_stopped(failure: Failure) -> Failure {
    match failure.exit {
        Exit::Usage => Failure { exit: Exit::Stopped, ..failure },
        _ => failure,
    }
}

/// What came before a statement that fails was carried out, and stays.
fn failure_after(number: usize, failure: Failure) -> Failure {
    if number == 0 { failure } else { as_stopped(failure) }
}

/// A statement that was under way when its time was up, or the disk full, was not refused.
fn unavailable_as_stopped(failure: Failure) -> Failure {
    if failure.error.kind() == ErrorKind::Unavailable { as_stopped(failure) } else { failure }
}

/// Statements of one word.
const WORDS: [&str; 9] =
    ["ABORT", "ANALYSE", "ANALYZE", "BEGIN", "CHECKPOINT", "COMMIT", "END", "ROLLBACK", "VACUUM"];

/// Whether an argument names a store: few statements are one word, and a store is no more than that
/// unless its directory is there.
fn is_store(given: &str) -> bool {
    let is_statement = WORDS.iter().any(|word| given.eq_ignore_ascii_case(word));
    let is_word =
        !given.is_empty() && !given.contains(|char: char| char.is_whitespace() || char == ';');
    Path::new(given).is_dir() || is_word && !is_statement
}

/// The failure, with the line that it names after its message.
fn failure_with_excerpt(text: &str, failure: Failure) -> Failure {
    let message = caret::with_excerpt(text, &failure.error);
    match message == failure.error.message() {
        true => failure,
        false => Failure { error: Error::new(failure.error.kind(), message), ..failure },
    }
}

/// Whether a statement makes a table. Only that makes a store: the name of one may be misspelt.
fn makes_a_table(text: &str) -> bool {
    statements(text).into_iter().any(|statement| {
        let mut words = statement.split_whitespace();
        ["create", "table"]
            .into_iter()
            .all(|word| words.next().is_some_and(|next| next.eq_ignore_ascii_case(word)))
    })
}

/// Whether all statements begin like definitions: then the reader of definitions reports their
/// errors.
fn are_definitions(text: &str) -> bool {
    let tokens = SqlTokens::read(text);
    let said = tokens
        .tokens()
        .iter()
        .filter(|token| token.kind != SqlTokenKind::Comment)
        .collect::<Vec<_>>();
    said.split(|token| token.kind == SqlTokenKind::End)
        .filter_map(|statement| statement.first())
        .all(|token| is_definition(&text[token.range.start..]))
}

/// What queries begin with.
const QUERIES: [&str; 5] = ["select", "with", "values", "table", "from"];

/// Whether a text begins like a definition.
fn is_definition(text: &str) -> bool {
    let is_other = |letter: char| !letter.is_alphanumeric() && letter != '_';
    let mut words = text.split(is_other).filter(|word| !word.is_empty());
    let first = words.next().unwrap_or_default().to_ascii_lowercase();
    match first.as_str() {
        "create" | "drop" => !is_of_queries(text),
        "alter" => true,
        // Of a query it is answered with rows.
        "describe" => words.next().is_none_or(|what| {
            let what = what.to_ascii_lowercase();
            what == "table" || !QUERIES.contains(&what.as_str())
        }),
        // Its other forms are answered with rows.
        "show" => words.next().is_some_and(|what| what.eq_ignore_ascii_case("tables")),
        _ => false,
    }
}

/// Whether a text begins with a definition that has a query: `CREATE TABLE ... AS`, or of a view.
fn is_of_queries(text: &str) -> bool {
    let statement = text.split(';').next().unwrap_or_default().to_ascii_lowercase();
    let is_other = |letter: char| !letter.is_alphanumeric() && letter != '_';
    let words: Vec<_> = statement.split(is_other).filter(|word| !word.is_empty()).collect();
    matches!(words.as_slice(), [_, "view", ..] | ["create", "or", "replace", ..])
        || words.windows(2).any(|pair| pair[0] == "as" && QUERIES.contains(&pair[1]))
}

//! What executes the shell's statements: a store of this process, or a server.

use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::SchemaRef;
use tonnage::{Cancel, DdlOutcome, Result, Store};
use tonnage_client::RemoteStore;
use tonnage_sql::{Request, Script, Sql, SqlOptions};

use super::words::{quoted, quoted_path};
use crate::output::describe_changes;
use crate::statements::statements;

/// What executes statements.
pub(crate) enum Backend {
    /// A store of this process.
    Store(Sql),
    /// A server. The copy is a store in memory that has its tables, without rows: by them words are
    /// completed, and tables are described.
    Server { client: RemoteStore, copy: Sql },
}

/// What a statement answers.
pub(super) enum StatementAnswer {
    Rows(SchemaRef, Box<dyn Iterator<Item = Result<RecordBatch>>>),
    Words(String),
}

/// The statements of a text. `next` executes one and returns its answer.
pub(super) enum Statements {
    Store(Script),
    Server { client: RemoteStore, copy: Sql, waiting: std::vec::IntoIter<String> },
}

impl Backend {
    /// A server, with a copy of its tables.
    ///
    /// # Errors
    /// What the server says.
    pub(crate) fn of_server(client: RemoteStore) -> Result<Self> {
        let copy = Sql::new(Store::open("memory:")?, SqlOptions::default())?;
        copy_tables(&client, copy.store())?;
        Ok(Backend::Server { client, copy })
    }

    /// The tables that there are.
    ///
    /// # Errors
    /// What the server says.
    pub(super) fn tables(&self) -> Result<&Store> {
        match self {
            Backend::Store(sql) => Ok(sql.store()),
            Backend::Server { client, copy } => {
                copy_tables(client, copy.store())?;
                Ok(copy.store())
            }
        }
    }

    /// The tables that were there when they were asked for last, and the functions.
    pub(super) fn cached_tables(&self) -> (&Store, Vec<String>) {
        let (Backend::Store(sql) | Backend::Server { copy: sql, .. }) = self;
        (sql.store(), sql.functions())
    }

    /// Whether a transaction is open.
    pub(super) fn is_in_transaction(&self) -> bool {
        matches!(self, Backend::Store(sql) if sql.is_in_transaction())
    }

    /// The statements of a text.
    ///
    /// # Errors
    /// `Invalid` for a text that cannot be cut into statements.
    pub(super) fn script(&self, text: &str, cancel: &Cancel) -> Result<Statements> {
        Ok(match self {
            Backend::Store(sql) => {
                Statements::Store(sql.script(Request::new(text).cancel(cancel))?)
            }
            Backend::Server { client, copy } => {
                let (client, copy) = (client.with_limits(cancel, None), copy.clone());
                let waiting: Vec<_> = statements(text)
                    .into_iter()
                    .map(|statement| format!("{}{}", blanks_before(text, statement), statement))
                    .collect();
                Statements::Server { client, copy, waiting: waiting.into_iter() }
            }
        })
    }
}

impl Statements {
    pub(super) fn len(&self) -> usize {
        match self {
            Statements::Store(script) => script.len(),
            Statements::Server { waiting, .. } => waiting.len(),
        }
    }

    pub(super) fn next(&mut self) -> Option<Result<StatementAnswer>> {
        match self {
            Statements::Store(script) => script.next().map(|answer| answer.map(of_store)),
            Statements::Server { client, copy, waiting } => {
                let statement = waiting.next()?;
                Some(client.sql(&statement).map(|answer| of_server(answer, client, copy)))
            }
        }
    }
}

fn of_store(answer: tonnage_sql::Answer) -> StatementAnswer {
    match answer {
        tonnage_sql::Answer::Rows(rows) => {
            StatementAnswer::Rows(rows.schema().clone(), Box::new(rows))
        }
        tonnage_sql::Answer::Changed(changes) => StatementAnswer::Words(describe_changes(&changes)),
        tonnage_sql::Answer::Done(done) => StatementAnswer::Words(done.to_string()),
    }
}

fn of_server(answer: tonnage_client::Answer, client: &RemoteStore, copy: &Sql) -> StatementAnswer {
    match answer {
        tonnage_client::Answer::Rows(rows) => {
            StatementAnswer::Rows(rows.schema().clone(), Box::new(rows))
        }
        tonnage_client::Answer::Changed(changes) => {
            let tonnage_client::Changes { inserted, updated, deleted, skipped } = changes;
            let changes = tonnage_sql::Changes { inserted, updated, deleted, skipped };
            StatementAnswer::Words(describe_changes(&changes))
        }
        tonnage_client::Answer::Done(done) => {
            // What cannot be copied is not completed.
            let _ = copy_tables(client, copy.store());
            StatementAnswer::Words(done.to_string())
        }
    }
}

/// As many lines and columns as a text has before one of its statements: the place that an error
/// names is then the position in the text.
fn blanks_before(text: &str, statement: &str) -> String {
    let before = statement.as_ptr() as usize - text.as_ptr() as usize;
    text[..before].chars().map(|char| if char == '\n' { '\n' } else { ' ' }).collect()
}

/// Makes the tables and indexes of a store in memory those of a server, as far as the caller may see
/// them.
fn copy_tables(client: &RemoteStore, copy: &Store) -> Result<()> {
    let mut paths = client.table_paths()?;
    // Parents come before their children.
    paths.sort();
    let ask = |paths: &[String]| {
        let text = paths.iter().map(|path| format!("DESCRIBE {};", quoted_path(path)));
        client.execute(&text.collect::<String>())
    };
    let described = match paths.is_empty() {
        true => Vec::new(),
        // Those that may not be read are left out.
        false => ask(&paths).unwrap_or_else(|_| {
            paths.iter().filter_map(|path| ask(std::slice::from_ref(path)).ok()).flatten().collect()
        }),
    };
    let mut old: Vec<String> = copy.tables().iter().map(|table| table.path().to_owned()).collect();
    old.sort();
    for path in old.iter().rev() {
        copy.catalog().drop_table(path, true)?;
    }
    for outcome in described {
        if let DdlOutcome::Description(ddl) = outcome {
            // A child whose parent may not be read stays away, too.
            let _ = copy.execute(&ddl);
        }
    }
    if let Ok(tonnage_client::Answer::Rows(indexes)) = client.sql("SHOW INDEXES") {
        for batch in indexes {
            copy_indexes(&batch?, copy);
        }
    }
    Ok(())
}

fn copy_indexes(indexes: &RecordBatch, copy: &Store) {
    let texts = |name: &str| {
        let column = indexes.column_by_name(name)?;
        column.as_string_opt::<i32>()
    };
    let (Some(tables), Some(names), Some(columns)) =
        (texts("table"), texts("index"), texts("columns"))
    else {
        return;
    };
    for row in 0..indexes.num_rows() {
        let (table, name) = (quoted_path(tables.value(row)), quoted(names.value(row)));
        let _ = copy.execute(&format!("CREATE INDEX {name} ON {table} ({})", columns.value(row)));
    }
}

//! BEGIN, COMMIT and ROLLBACK: changes of rows of one shard key that are carried out together.
//!
//! 1. BEGIN opens a transaction of the session. A statement that changes rows leaves them here,
//!    each with what must hold of the stored row: its version as it was read, or that there is
//!    none.
//! 2. Statements see the tables with the rows as they are here (`catalog/overlay.rs`). All else
//!    they see as it is stored when they read it.
//! 3. COMMIT carries everything out in one atomic write. If a condition does not hold any more,
//!    another writer has changed that row, and nothing is written.
//!
//! A statement that fails leaves the transaction as it was before it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use datafusion::sql::sqlparser::tokenizer::Token;
use tonnage::internal::sync::lock;
use tonnage::{
    Condition, Error, Result, Row, RowOperation, Store, Table, Value, WriteOptions, WriteResult,
};

use crate::errors::invalid_at;
use crate::text::{Cursor, Piece};

/// The most rows that one transaction changes.
const ROWS_MAX: usize = 10_000;

/// The changes of one transaction. Its statements write one after another.
#[derive(Debug)]
pub(crate) struct Transaction {
    bytes_max: usize,
    changes: Mutex<PendingChanges>,
    turn: Mutex<()>,
}

#[derive(Debug, Default)]
struct PendingChanges {
    /// By their keys as they are stored: all are of one family, where no two tables share a key.
    rows: BTreeMap<Vec<u8>, PendingChange>,
    bytes: usize,
    /// What the statement that runs has changed, as it was before.
    undo: Vec<(Vec<u8>, Option<PendingChange>)>,
    is_over: bool,
}

/// A row that is changed.
#[derive(Clone, Debug)]
struct PendingChange {
    table: Table,
    key: Row,
    /// The row as it will be; none for one that is deleted.
    row: Option<Arc<Row>>,
    /// What must hold of the stored row.
    condition: Condition,
    bytes: usize,
}

/// The rows of one table that a transaction has changed.
pub(crate) struct ChangedRows {
    /// The keys of all of them.
    pub(crate) keys: Vec<Row>,
    /// Those that are there.
    pub(crate) rows: Vec<Arc<Row>>,
}

impl Transaction {
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self { bytes_max, changes: Mutex::default(), turn: Mutex::default() }
    }

    /// Carries out a statement that changes rows, after those that run already. One that fails
    /// leaves nothing.
    pub(crate) fn statement<T>(&self, run: impl FnOnce() -> Result<T>) -> Result<T> {
        let _turn = lock(&self.turn);
        {
            let mut changes = lock(&self.changes);
            if changes.is_over {
                return Err(Error::conflict("the transaction ended before this statement began"));
            }
            changes.undo.clear();
        }
        run().inspect_err(|_| lock(&self.changes).undo_statement())
    }

    /// What the transaction has changed of a table; nothing if it has not.
    pub(crate) fn changed(&self, table: &Table) -> Option<ChangedRows> {
        let changes = lock(&self.changes);
        let own = changes.rows.values().filter(|change| change.table.path() == table.path());
        let (keys, rows): (Vec<_>, Vec<_>) =
            own.map(|change| (change.key.clone(), change.row.clone())).unzip();
        let rows = rows.into_iter().flatten().collect();
        (!keys.is_empty()).then_some(ChangedRows { keys, rows })
    }

    /// Whether the row under a key is there, if the transaction has changed it.
    pub(crate) fn has(&self, table: &Table, key: &Row) -> Result<Option<bool>> {
        let mut bytes = Vec::new();
        table.entry().codec.encode_key(key, &mut bytes)?;
        let changes = lock(&self.changes);
        // A table of another family may have the same key.
        let change = changes.rows.get(&bytes).filter(|own| own.table.path() == table.path());
        Ok(change.map(|change| change.row.is_some()))
    }

    /// Stores a row, whose stored one must be as the condition says.
    pub(crate) fn put(&self, table: &Table, row: Row, condition: Condition) -> Result<()> {
        let (mut key, mut value) = (Vec::new(), Vec::new());
        table.entry().codec.encode_row(&row, &mut key, &mut value)?;
        let bytes = 2 * (key.len() + value.len());
        let own = key_of(table, &row);
        let row = Some(Arc::new(row));
        self.change(key, PendingChange { table: table.clone(), key: own, row, condition, bytes })
    }

    /// Deletes a row, whose stored one must be as the condition says.
    pub(crate) fn delete(&self, table: &Table, row: &Row, condition: Condition) -> Result<()> {
        let mut key = Vec::new();
        table.entry().codec.encode_key(row, &mut key)?;
        let (own, bytes) = (key_of(table, row), 2 * key.len());
        self.change(
            key,
            PendingChange { table: table.clone(), key: own, row: None, condition, bytes },
        )
    }

    fn change(&self, key: Vec<u8>, mut change: PendingChange) -> Result<()> {
        let mut changes = lock(&self.changes);
        changes.check_shard_key(&change)?;
        let before = changes.rows.remove(&key);
        changes.bytes -= before.as_ref().map_or(0, |before| before.bytes);
        if let Some(before) = &before {
            // The condition is on what is stored, and nothing of this transaction is stored yet.
            change.condition = before.condition;
        }
        changes.undo.push((key.clone(), before));
        if change.row.is_none() && change.condition == Condition::IfAbsent {
            // It was inserted and deleted: nothing is to be written.
            return Ok(());
        }
        changes.bytes += change.bytes;
        changes.rows.insert(key, change);
        if changes.rows.len() > ROWS_MAX || changes.bytes > self.bytes_max {
            return Err(Error::exhausted(format!(
                "a transaction changes at most {ROWS_MAX} rows of together {} bytes: COMMIT more often",
                self.bytes_max
            )));
        }
        Ok(())
    }

    /// Leaves all changes undone.
    pub(crate) fn roll_back(&self) {
        let _turn = lock(&self.turn);
        *lock(&self.changes) = PendingChanges { is_over: true, ..PendingChanges::default() };
    }

    /// Carries all changes out. Returns how many rows are written.
    ///
    /// # Errors
    /// `Conflict` when others have changed a row, or its table, since it was read; then nothing is
    /// written.
    pub(crate) fn commit(&self, store: &Store, options: &WriteOptions) -> Result<usize> {
        let _turn = lock(&self.turn);
        // Over, whatever comes of it: a COMMIT that fails cannot be tried again.
        let over = PendingChanges { is_over: true, ..PendingChanges::default() };
        let changes = std::mem::replace(&mut *lock(&self.changes), over);
        if changes.rows.is_empty() {
            return Ok(0);
        }
        let mut operations = Vec::with_capacity(changes.rows.len());
        for change in changes.rows.values() {
            let path = change.table.path();
            // The rows fit the table as it was then: an altered one may have other
            // columns.
            if !Arc::ptr_eq(store.table(path)?.entry(), change.table.entry()) {
                return Err(Error::conflict(format!(
                    "table {path} was altered while the transaction was open: nothing is written; carry it out again"
                )));
            }
            let operation = match &change.row {
                Some(row) => RowOperation::put(path, Row::clone(row)),
                None => RowOperation::delete(path, change.key.clone()),
            };
            operations.push(operation.when(change.condition));
        }
        match store.atomic_write(&operations, options)? {
            WriteResult::Stored { .. } => Ok(operations.len()),
            WriteResult::ConditionFailed { operation, .. } => {
                let failed = changes.rows.values().nth(operation);
                let told = failed.map_or_else(String::new, |change| {
                    format!(
                        "the row of {} with the key ({}) ",
                        change.table.path(),
                        describe_key(&change.key)
                    )
                });
                Err(Error::conflict(format!(
                    "{told}was changed by another writer since the transaction read it: nothing is written; run the transaction again"
                )))
            }
        }
    }
}

/// A statement that begins or ends a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TransactionStatement {
    Begin,
    Commit,
    Rollback,
}

impl TransactionStatement {
    /// Reads `BEGIN | START TRANSACTION | COMMIT | END | ROLLBACK | ABORT`, with WORK or
    /// TRANSACTION and the modes that PostgreSQL and SQLite have.
    pub(crate) fn read(piece: &Piece) -> Result<Self> {
        let mut cursor = Cursor::new(piece);
        let statement = if cursor.word("BEGIN") || cursor.word("START") {
            TransactionStatement::Begin
        } else if cursor.word("COMMIT") || cursor.word("END") {
            TransactionStatement::Commit
        } else {
            // `StatementKind::of` leaves ROLLBACK and ABORT.
            cursor.next();
            TransactionStatement::Rollback
        };
        if statement == TransactionStatement::Begin {
            // SQLite says by these when it locks. Here nothing is locked, so all of them mean the
            // same.
            let _ = cursor.word("DEFERRED") || cursor.word("IMMEDIATE") || cursor.word("EXCLUSIVE");
        }
        let _ = cursor.word("WORK") || cursor.word("TRANSACTION");
        match statement {
            TransactionStatement::Begin => modes(&mut cursor)?,
            TransactionStatement::Rollback if cursor.is_word("TO") => {
                return Err(invalid_at(
                    cursor.location(),
                    "a transaction has no savepoints; a statement that fails leaves it as it was before",
                ));
            }
            _ => {}
        }
        cursor.end()?;
        Ok(statement)
    }
}

/// `ISOLATION LEVEL READ COMMITTED`, `READ WRITE`, between commas or not.
fn modes(cursor: &mut Cursor) -> Result<()> {
    loop {
        let place = cursor.location();
        if cursor.word("ISOLATION") {
            let is_kept = cursor.word("LEVEL")
                && cursor.word("READ")
                && (cursor.word("COMMITTED") || cursor.word("UNCOMMITTED"));
            if !is_kept {
                return Err(invalid_at(
                    place,
                    "a transaction reads what is committed, and COMMIT fails if a row that it changes was changed meanwhile: there is no level above READ COMMITTED",
                ));
            }
        } else if cursor.word("READ") {
            if !cursor.word("WRITE") {
                return Err(cursor.expected("WRITE"));
            }
        } else if !cursor.token(&Token::Comma) {
            return Ok(());
        }
    }
}

impl PendingChanges {
    /// Makes everything as it was before the statement.
    fn undo_statement(&mut self) {
        for (key, before) in std::mem::take(&mut self.undo).into_iter().rev() {
            let bytes = before.as_ref().map_or(0, |before| before.bytes);
            let after = match before {
                Some(before) => self.rows.insert(key, before),
                None => self.rows.remove(&key),
            };
            self.bytes = self.bytes + bytes - after.map_or(0, |after| after.bytes);
        }
    }

    /// Refuses rows of another shard key than that of the rows before.
    fn check_shard_key(&self, change: &PendingChange) -> Result<()> {
        let Some(first) = self.rows.values().next() else { return Ok(()) };
        let (schema, table) = (change.table.schema(), &first.table);
        // Tables of one family share a space, and one atomic write does not reach beyond it.
        if table.entry().space != change.table.entry().space {
            return Err(Error::unsupported(format!(
                "a transaction changes rows of one shard key: {} is not a relative of {}, which it has changed; COMMIT first",
                schema.path,
                table.path()
            )));
        }
        let (own, others) = (change.shard_key(), first.shard_key());
        if own.len() == others.len()
            && own.iter().zip(&others).all(|(one, other)| is_same_key_value(one, other))
        {
            return Ok(());
        }
        let names = schema.key_columns().take(schema.shard_key_len);
        let names: Vec<_> = names.map(|column| column.name.as_str()).collect();
        Err(Error::unsupported(format!(
            "a transaction changes rows of one shard key: this row of {} has ({}) = ({}), the rows before ({}); COMMIT first, or declare the table with PRIMARY KEY (SHARD(...), ...) so that these rows share one",
            schema.path,
            names.join(", "),
            value_list(&own),
            value_list(&others)
        )))
    }
}

impl PendingChange {
    fn shard_key(&self) -> Vec<&Value> {
        let len = self.table.schema().shard_key_len;
        self.key.iter().take(len).map(|(_, value)| value).collect()
    }
}

/// Whether two values of a key are one. In keys NaN is equal to itself.
fn is_same_key_value(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Double(one), Value::Double(other)) => {
            one == other || one.is_nan() && other.is_nan()
        }
        (Value::Float(one), Value::Float(other)) => one == other || one.is_nan() && other.is_nan(),
        _ => one == other,
    }
}

fn value_list(values: &[&Value]) -> String {
    values.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn describe_key(key: &Row) -> String {
    key.iter().map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ")
}

/// The key columns of a row, in their order.
pub(crate) fn key_of(table: &Table, row: &Row) -> Row {
    let schema = table.schema();
    let mut key = Row::with_capacity(schema.key.len());
    for column in schema.key_columns() {
        key.set(&column.name, row.get(&column.name).cloned().unwrap_or(Value::Null));
    }
    key
}

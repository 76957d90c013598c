//! SHOW, DESCRIBE and EXPLAIN, as far as the store answers them.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, StringArray};
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};
use tonnage::{Error, Index, Result, Store, TableSchema};

use crate::catalog::indexes;
use crate::errors::invalid_at;
use crate::statistics::list_statistics;
use crate::text::{Cursor, Piece, StatementKind};
use crate::views;

/// Carries out `SHOW TABLES`, `SHOW COLUMNS FROM t`, `SHOW INDEXES [FROM t]`, `SHOW STATISTICS
/// [FROM t]`, `SHOW CREATE TABLE t` and `DESCRIBE t`.
pub(crate) fn run(store: &Store, piece: &Piece) -> Result<RecordBatch> {
    let mut cursor = Cursor::new(piece);
    // `accesses` reads the same forms: one that it does not know would pass a guard unseen.
    let is_show = cursor.word("SHOW");
    if !is_show {
        cursor.next();
        cursor.word("TABLE");
        return describe_table(store, &mut cursor);
    }
    if cursor.word("TABLES") {
        cursor.end()?;
        return texts([(
            "table",
            store.tables().iter().map(|table| table.path().to_owned()).collect(),
        )]);
    }
    if cursor.word("VIEWS") {
        cursor.end()?;
        let (names, queries) = views::all_views(store)?.into_iter().unzip();
        return texts([("view", names), ("query", queries)]);
    }
    if cursor.word("COLUMNS") {
        if !cursor.word("FROM") && !cursor.word("IN") {
            return Err(cursor.expected("FROM"));
        }
        return describe_table(store, &mut cursor);
    }
    if cursor.word("INDEXES") || cursor.word("INDEX") {
        return list_indexes(store, &mut cursor);
    }
    if cursor.word("STATISTICS") {
        let of_table = of_table(store, &mut cursor)?;
        return list_statistics(store, of_table.as_deref());
    }
    if cursor.word("CREATE") {
        if !cursor.word("TABLE") {
            return Err(cursor.expected("TABLE"));
        }
        let schema = table(store, &mut cursor)?;
        return texts([("table", vec![schema.path.clone()]), ("statement", vec![schema.to_ddl()])]);
    }
    // Settings and FUNCTIONS never get here: `Sql::show_rows` answers them before.
    Err(cursor.expected(
        "TABLES, VIEWS, COLUMNS FROM, INDEXES, STATISTICS, FUNCTIONS, CREATE TABLE or the name of a \
         setting",
    ))
}

/// The name of the setting that a SHOW asks for, if it asks for one.
pub(crate) fn setting(piece: &Piece) -> Option<String> {
    const OTHERS: [&str; 8] =
        ["TABLES", "VIEWS", "COLUMNS", "INDEXES", "INDEX", "STATISTICS", "CREATE", "FUNCTIONS"];
    let mut cursor = Cursor::new(piece);
    if !cursor.word("SHOW") || OTHERS.iter().any(|word| cursor.is_word(word)) {
        return None;
    }
    if cursor.word("TIME") && cursor.word("ZONE") {
        return Some("timezone".to_owned());
    }
    let name = cursor.name()?.to_ascii_lowercase();
    cursor.is_at_end().then_some(name)
}

fn table(store: &Store, cursor: &mut Cursor) -> Result<Arc<TableSchema>> {
    let location = cursor.location();
    let path = match cursor.path() {
        Some(path) => path,
        None => return Err(cursor.expected("the name of a table")),
    };
    cursor.end()?;
    let table = store.table(&path).map_err(|error| {
        error.at(format_args!("line {}, column {}", location.line, location.column))
    })?;
    Ok(table.schema().clone())
}

/// A table, column by column.
fn describe_table(store: &Store, cursor: &mut Cursor) -> Result<RecordBatch> {
    let schema = table(store, cursor)?;
    let of_each =
        |tell: &dyn Fn(usize) -> String| (0..schema.columns.len()).map(tell).collect::<Vec<_>>();
    texts([
        ("column", of_each(&|index| schema.columns[index].name.clone())),
        ("type", of_each(&|index| schema.columns[index].column_type.to_string())),
        (
            "nullable",
            of_each(&|index| if schema.columns[index].nullable { "yes" } else { "no" }.to_owned()),
        ),
        ("key", of_each(&|index| key_part(&schema, index).to_owned())),
        ("default", of_each(&|index| schema.columns[index].default_text().unwrap_or_default())),
    ])
}

/// The indexes of a table, or of all, one by one.
fn list_indexes(store: &Store, cursor: &mut Cursor) -> Result<RecordBatch> {
    let of_table = of_table(store, cursor)?;
    let mut indexes = indexes(store);
    indexes.retain(|index| of_table.as_ref().is_none_or(|path| path == index.table_path()));
    let of_each = |tell: &dyn Fn(&Index) -> String| indexes.iter().map(tell).collect::<Vec<_>>();
    let columns = |index: &Index| {
        let columns = index.columns().iter().map(ToString::to_string);
        columns.collect::<Vec<_>>().join(", ")
    };
    texts([
        ("table", of_each(&|index| index.table_path().to_owned())),
        ("index", of_each(&|index| index.name().to_owned())),
        ("columns", of_each(&columns)),
        ("ready", of_each(&|index| if index.is_ready() { "yes" } else { "no" }.to_owned())),
    ])
}

/// The path of the table behind FROM, if one is named.
fn of_table(store: &Store, cursor: &mut Cursor) -> Result<Option<String>> {
    let is_named = cursor.word("FROM") || cursor.word("IN") || cursor.word("ON");
    let path = is_named.then(|| table(store, cursor).map(|schema| schema.path.clone()));
    let path = path.transpose()?;
    cursor.end().map(|()| path)
}

fn key_part(schema: &TableSchema, column: usize) -> &'static str {
    match schema.key_position(column) {
        Some(position) if position < schema.shard_key_len => "shard",
        Some(_) => "minor",
        None => "",
    }
}

/// The statement that is to be explained, when it is a query and nothing but its plan is wanted.
pub(crate) fn explained_query(piece: &Piece) -> Option<Piece> {
    let rest = &piece.tokens[1..];
    let is_select = matches!(&rest.first()?.token, Token::Word(word) if word.value.eq_ignore_ascii_case("SELECT"));
    is_select.then(|| Piece {
        tokens: Arc::new(rest.to_vec()),
        kind: StatementKind::Query,
        end: piece.end,
    })
}

/// EXPLAIN with its options, and the statement behind it that changes rows, if it is one.
pub(crate) fn explained_change(piece: &Piece) -> Result<Option<(&[TokenWithSpan], Piece)>> {
    // In quotes a word is a name, whatever it means otherwise.
    let is = |token: &TokenWithSpan, names: &[&str]| {
        matches!(&token.token, Token::Word(word) if word.quote_style.is_none()
            && names.iter().any(|name| word.value.eq_ignore_ascii_case(name)))
    };
    let changing = ["INSERT", "UPSERT", "REPLACE", "UPDATE", "DELETE", "TRUNCATE"];
    let options = ["ANALYZE", "VERBOSE"];
    let Some(at) = (1..piece.tokens.len()).find(|at| !is(&piece.tokens[*at], &options)) else {
        return Ok(None);
    };
    if !is(&piece.tokens[at], &changing) {
        return Ok(None);
    }
    let (explain, rest) = piece.tokens.split_at(at);
    if explain.iter().any(|token| is(token, &["ANALYZE"])) {
        return Err(invalid_at(
            explain[1].span.start,
            "EXPLAIN ANALYZE would carry the statement out: write EXPLAIN for what it would do",
        ));
    }
    let mut tokens = rest.to_vec();
    let kind = StatementKind::of(&tokens);
    // The parser knows no UPSERT. The kind still says that rows are replaced.
    if kind == StatementKind::Upsert {
        tokens[0].token = Token::make_keyword("INSERT");
    }
    Ok(Some((explain, Piece { tokens: Arc::new(tokens), kind, end: piece.end })))
}

/// A plan as EXPLAIN gives it.
pub(crate) fn plan(text: &str) -> Result<RecordBatch> {
    row("direct", text)
}

/// A row of EXPLAIN.
pub(crate) fn row(plan_type: &str, text: &str) -> Result<RecordBatch> {
    texts([("plan_type", vec![plan_type.to_owned()]), ("plan", vec![text.to_owned()])])
}

pub(crate) fn texts<const N: usize>(columns: [(&str, Vec<String>); N]) -> Result<RecordBatch> {
    let columns =
        columns.map(|(name, texts)| (name, Arc::new(StringArray::from(texts)) as ArrayRef));
    RecordBatch::try_from_iter(columns).map_err(|error| Error::internal(error.to_string()))
}

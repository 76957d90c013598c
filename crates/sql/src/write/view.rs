//! `CREATE VIEW` and `DROP VIEW`.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{ObjectName, Statement};
use datafusion::sql::sqlparser::tokenizer::Token;
use tonnage::{AlreadyExists, Condition, Error, Result, Row};

use crate::catalog::read_path;
use crate::errors::invalid_at;
use crate::planner::Planner;
use crate::session::{Access, Guard, Parameters, TableAccesses};
use crate::text::{Cursor, Looker, Piece, StatementKind, walk};
use crate::views::{DEFINITION, TABLE, path_of, quoted, table};

/// `CREATE [OR REPLACE] VIEW [IF NOT EXISTS] name [(columns)] AS query`, or
/// `DROP VIEW [IF EXISTS] name`.
pub(crate) enum ViewStatement {
    Create(NewView),
    Drop { name: String, if_exists: bool },
}

pub(crate) struct NewView {
    name: String,
    columns: Vec<String>,
    replaces: bool,
    if_not_exists: bool,
    query: Piece,
    parsed: Box<Statement>,
}

impl ViewStatement {
    /// Reads a definition, if it is one of a view.
    pub(crate) fn read(piece: &Piece) -> Result<Option<Self>> {
        let mut cursor = Cursor::new(piece);
        // What is not about a view is `None`: other parsers read it, and report its errors.
        if cursor.word("DROP") {
            if !cursor.word("VIEW") {
                return Ok(None);
            }
            let if_exists = cursor.word("IF");
            if if_exists {
                cursor.expect_word("EXISTS")?;
            }
            let name = name(&mut cursor)?;
            cursor.end()?;
            return Ok(Some(Self::Drop { name, if_exists }));
        }
        if !cursor.word("CREATE") {
            return Ok(None);
        }
        let replaces = cursor.word("OR") && cursor.word("REPLACE");
        if !cursor.word("VIEW") {
            return Ok(None);
        }
        let if_not_exists = cursor.word("IF");
        if if_not_exists && !(cursor.word("NOT") && cursor.word("EXISTS")) {
            return Err(cursor.expected("NOT EXISTS"));
        }
        let name = name(&mut cursor)?;
        let columns = cursor.column_names()?;
        cursor.expect_word("AS")?;
        let tokens = cursor.rest().to_vec();
        let kind = StatementKind::of(&tokens);
        if kind != StatementKind::Query {
            return Err(cursor.expected("a query"));
        }
        // A view becomes a part of other statements, whose parameters are not its own.
        let parameter = tokens.iter().find(|token| matches!(token.token, Token::Placeholder(_)));
        if let Some(parameter) = parameter {
            return Err(invalid_at(parameter.span.start, "a view has no parameters"));
        }
        let query = Piece { tokens: tokens.into(), kind, end: piece.end };
        let parsed = Box::new(query.parse()?);
        Ok(Some(Self::Create(NewView { name, columns, replaces, if_not_exists, query, parsed })))
    }

    /// The tables that it touches.
    pub(crate) fn accesses(&self) -> TableAccesses {
        let mut found = TableAccesses::default();
        match self {
            Self::Create(view) => {
                found.note(&view.name, Access::Define);
                found.read(view.parsed.as_ref());
            }
            Self::Drop { name, .. } => found.note(name, Access::Define),
        }
        found
    }
}

fn name(cursor: &mut Cursor) -> Result<String> {
    let place = cursor.location();
    let name = read_path(cursor).ok_or_else(|| cursor.expected("the name of a view"))?;
    match name.contains('.') {
        false => Ok(name),
        true => Err(invalid_at(place, "the name of a view has one part")),
    }
}

/// Carries the definition of a view out; `text` is the whole text that it is a part of.
pub(crate) fn define_view(
    planner: &Planner,
    view: &ViewStatement,
    text: &str,
    guard: &Guard,
) -> Result<String> {
    let store = &planner.context.store;
    match view {
        ViewStatement::Create(view) => create(planner, view, text, guard),
        ViewStatement::Drop { name, if_exists } => {
            let key = Row::new().with("name", name.as_str());
            let existed = match table(store) {
                Some(views) => views.delete(&key, &guard.write_options())?,
                None => false,
            };
            match existed || *if_exists {
                true if existed => Ok(format!("dropped view {name}")),
                true => Ok(format!("there was no view {name}")),
                false => Err(Error::not_found(format!("there is no view {name}"))),
            }
        }
    }
}

fn create(planner: &Planner, view: &NewView, text: &str, guard: &Guard) -> Result<String> {
    let (store, name) = (&planner.context.store, &view.name);
    if store.table(name).is_ok() {
        return Err(AlreadyExists::error(format!(
            "there is a table {name} already: give the view another name"
        )));
    }
    if names_in(&view.parsed).contains(name) {
        return Err(Error::invalid(format!("the view {name} would read itself")));
    }
    // Planned now, so that a query with an error fails here and not at the first reader.
    let (schema, _) =
        planner.describe_statement(view.parsed.as_ref().clone(), &Parameters::default())?;
    if !view.columns.is_empty() && view.columns.len() != schema.fields().len() {
        return Err(Error::invalid(format!(
            "the view {name} names {} columns, and its query has {}",
            view.columns.len(),
            schema.fields().len()
        )));
    }
    // After all checks: a view that is refused leaves no table of views.
    store.execute(DEFINITION)?;
    let views = store.table(TABLE)?;
    let mut row = Row::new()
        .with("name", name.as_str())
        .with("query", view.query.text(text).trim().to_owned());
    if !view.columns.is_empty() {
        row.set(
            "columns",
            view.columns.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", "),
        );
    }
    let condition = if view.replaces { Condition::Always } else { Condition::IfAbsent };
    let put = views.put_returning(&row, condition, &guard.write_options())?;
    match put.result.is_stored() || view.if_not_exists {
        true if put.result.is_stored() => Ok(format!("created view {name}")),
        true => Ok(format!("view {name} was there already")),
        false => Err(AlreadyExists::error(format!(
            "the view {name} exists already: write CREATE OR REPLACE VIEW to put another in its place"
        ))),
    }
}

/// The names of tables and views in a statement.
fn names_in(statement: &Statement) -> Vec<String> {
    struct NameCollector(Vec<String>);
    impl Looker for NameCollector {
        fn pre_visit_relation(&mut self, name: &ObjectName) -> ControlFlow<Error> {
            self.0.push(path_of(name));
            ControlFlow::Continue(())
        }
    }
    let mut names = NameCollector(Vec::new());
    let _ = walk(statement, &mut names);
    names.0
}

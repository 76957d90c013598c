//! Views: queries that are kept under a name.
//!
//! They are rows of the table `_views`, which is created with the first of them, so that whatever
//! copies or moves a store takes them along. A statement that names one is planned as if the view's
//! query replaced it: the caller needs grants on the tables of that query. A table of the same
//! name comes first.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    self, Ident, ObjectName, Query, Statement, TableAlias, TableFactor, With,
};
use tonnage::{Error, Result, Row, Store, Table, Value};

use crate::catalog::path_of_parts;
use crate::text::{CATALOG, Rewriter, SCHEMA, check_bounds, folded, pieces, walk_mut};

/// The table that holds them.
pub(crate) const TABLE: &str = "_views";
/// What makes it.
pub(crate) const DEFINITION: &str = "CREATE TABLE IF NOT EXISTS _views \
    (name STRING, columns STRING, query STRING, PRIMARY KEY (SHARD(name)))";
/// How deep views may build on views.
const DEPTH_MAX: usize = 16;
/// How often a statement may name views, with those that they name in turn: views that name others
/// twice double that at each step.
const NAMED_MAX: usize = 1_000;

pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// The table of views, if there are any. Every statement looks, so no other process is asked.
pub(crate) fn table(store: &Store) -> Option<Table> {
    store.known_table(TABLE)
}

/// All views, by name: with their queries.
pub(crate) fn all_views(store: &Store) -> Result<Vec<(String, String)>> {
    let Some(views) = table(store) else { return Ok(Vec::new()) };
    let mut all = Vec::new();
    let latest = tonnage::TableScanOptions {
        consistency: Some(tonnage::Consistency::Absolute),
        ..tonnage::TableScanOptions::default()
    };
    for batch in views.scan(&latest)? {
        let rows = batch?.rows;
        for row in 0..rows.num_rows() {
            let row = Row::from_batch(&rows, row)?;
            let text = |name: &str| row.get(name).map(ToString::to_string).unwrap_or_default();
            all.push((text("name"), text("query")));
        }
    }
    all.sort();
    Ok(all)
}

/// The text of a view: its query, under its columns.
fn text_of(store: &Store, views: &Table, name: &str) -> Result<Option<String>> {
    if store.known_table(name).is_some() {
        return Ok(None);
    }
    let Some(found) = views.get(&Row::new().with("name", name))? else { return Ok(None) };
    let text = |name: &str| match found.row.get(name) {
        Some(Value::String(text)) => Some(text.clone()),
        _ => None,
    };
    let query = text("query")
        .ok_or_else(|| Error::corruption(format!("table {TABLE}: the view {name} has no query")))?;
    Ok(Some(match text("columns") {
        Some(columns) => format!("SELECT * FROM ({query}) AS v ({columns})"),
        None => query,
    }))
}

/// Replaces views by their queries. Returns whether there were any.
pub(crate) fn expand(store: &Store, statement: &mut Statement) -> Result<bool> {
    let Some(views) = table(store) else { return Ok(false) };
    let mut left = NAMED_MAX;
    if !expand_below(store, &views, statement, 0, &mut left)? {
        return Ok(false);
    }
    // Each of the queries was bounded by itself, and they are nested now.
    check_bounds(statement).map(|()| true)
}

fn expand_below(
    store: &Store,
    views: &Table,
    statement: &mut Statement,
    depth: usize,
    left: &mut usize,
) -> Result<bool> {
    if depth > DEPTH_MAX {
        return Err(Error::invalid(format!("views are nested more than {DEPTH_MAX} deep")));
    }
    let (names, open) = (Vec::new(), Vec::new());
    let mut expanding = ViewExpander { store, views, depth, left, names, open, found: false };
    walk_mut(statement, &mut expanding)?;
    Ok(expanding.found)
}

struct ViewExpander<'a> {
    store: &'a Store,
    views: &'a Table,
    depth: usize,
    /// How often views may still be named.
    left: &'a mut usize,
    /// The names that WITH gives here.
    names: Vec<String>,
    /// Of the queries around: how many names there were before, and what WITH gives.
    open: Vec<(usize, Option<With>)>,
    found: bool,
}

impl Rewriter for ViewExpander<'_> {
    /// A table of WITH is seen by those after it and by the query, and by itself where it is
    /// recursive. So its query is walked here.
    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<Error> {
        let before = self.names.len();
        let mut with = query.with.take();
        if let Some(With { recursive, cte_tables, .. }) = &mut with {
            for table in cte_tables {
                let name = folded(&table.alias.name);
                if *recursive {
                    self.names.push(name.clone());
                }
                if let Err(error) = walk_mut(table.query.as_mut(), self) {
                    return ControlFlow::Break(error);
                }
                if !*recursive {
                    self.names.push(name);
                }
            }
        }
        self.open.push((before, with));
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, query: &mut Query) -> ControlFlow<Error> {
        if let Some((before, with)) = self.open.pop() {
            self.names.truncate(before);
            query.with = with;
        }
        ControlFlow::Continue(())
    }

    fn post_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<Error> {
        match self.expand_factor(factor) {
            Ok(None) => {
                if self.depth > 0 {
                    self.keep_table(factor);
                }
                ControlFlow::Continue(())
            }
            Ok(Some(expanded)) => {
                *factor = expanded;
                self.found = true;
                ControlFlow::Continue(())
            }
            Err(error) => ControlFlow::Break(error),
        }
    }
}

impl ViewExpander<'_> {
    /// Whether WITH gives the table of a name here.
    fn is_given(&self, name: &ObjectName) -> bool {
        let [part] = name.0.as_slice() else { return false };
        let name = part.as_ident().map(folded);
        name.is_some_and(|name| self.names.contains(&name))
    }

    /// Writes the name of a table of a view out whole. A name that WITH gives in the statement
    /// around the view means another table there.
    fn keep_table(&self, factor: &mut TableFactor) {
        let TableFactor::Table { name, alias, args: None, .. } = factor else { return };
        if name.0.len() == 1 && !self.is_given(name) {
            let own = name.0.last().and_then(ast::ObjectNamePart::as_ident).cloned();
            let before = [CATALOG, SCHEMA].map(|part| Ident::with_quote('"', part));
            drop(name.0.splice(0..0, before.map(ast::ObjectNamePart::Identifier)));
            // Its columns are named as before.
            if alias.is_none() {
                let named =
                    |name| TableAlias { explicit: true, name, columns: Vec::new(), at: None };
                *alias = own.map(named);
            }
        }
    }

    fn expand_factor(&mut self, factor: &TableFactor) -> Result<Option<TableFactor>> {
        let TableFactor::Table { name, alias, args: None, .. } = factor else { return Ok(None) };
        if self.is_given(name) {
            return Ok(None);
        }
        let path = path_of(name);
        let Some(text) = text_of(self.store, self.views, &path)? else { return Ok(None) };
        *self.left = self.left.checked_sub(1).ok_or_else(|| {
            Error::unsupported(format!(
                "the statement names views more than {NAMED_MAX} times, with those that they name in turn: \
                 keep what the inner ones give in a table, by CREATE TABLE ... AS"
            ))
        })?;
        let mut made = parsed(&format!("SELECT * FROM ({text}) AS {}", quoted(&path)), &path)?;
        expand_below(self.store, self.views, &mut made, self.depth + 1, self.left)?;
        let Some(mut derived) = first_factor(made) else {
            return Err(Error::internal(format!("the view {path} is not a query")));
        };
        if let (TableFactor::Derived { alias: own, .. }, Some(alias)) = (&mut derived, alias) {
            *own = Some(alias.clone());
        }
        Ok(Some(derived))
    }
}

fn parsed(text: &str, view: &str) -> Result<Statement> {
    let piece = pieces(text)?.pop().ok_or_else(crate::text::missing_statement)?;
    piece.parse().map_err(|error| {
        let message = format!("view {view}: {}", error.message());
        error.restated().with_message(message)
    })
}

fn first_factor(statement: Statement) -> Option<TableFactor> {
    let Statement::Query(query) = statement else { return None };
    let ast::SetExpr::Select(mut select) = *query.body else { return None };
    Some(select.from.pop()?.relation)
}

pub(crate) fn path_of(name: &ObjectName) -> String {
    let parts = name.0.iter().filter_map(ast::ObjectNamePart::as_ident);
    path_of_parts(&parts.map(folded).collect::<Vec<_>>())
}

/// The query of a view, parsed, for the tables that it reads.
pub(crate) fn query_of(store: &Store, name: &str) -> Result<Option<Statement>> {
    let Some(views) = table(store) else { return Ok(None) };
    let Some(text) = text_of(store, &views, name)? else { return Ok(None) };
    parsed(&text, name).map(Some)
}

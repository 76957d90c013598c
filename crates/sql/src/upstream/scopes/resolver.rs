//! Resolves the names of a statement, query by query.

use datafusion::sql::sqlparser::ast::{
    Distinct, Expr, Ident, ObjectName, OrderBy, OrderByExpr, OrderByKind, Query, Select, SetExpr,
    SetQuantifier, Statement,
};
use tonnage::Result;

use super::outputs::outputs;
use super::sorting::{HiddenKeys, add_hidden_keys};
use super::stars::{name_twins, refuse_unknown_replaced, spell_out_stars};
use super::visible::{ColumnMatch, ColumnNames, VisibleColumns};
use crate::text::folded;

/// The columns of a table by its name, where they are known.
type KnownColumns<'a> = &'a dyn Fn(&ObjectName) -> Option<Vec<String>>;

/// Resolves the names in a statement.
///
/// # Errors
/// A bare name in a subquery that means several columns.
pub(crate) fn resolve(statement: &mut Statement, known: KnownColumns<'_>) -> Result<()> {
    match statement {
        Statement::Query(query) => {
            let mut names =
                NameResolver { known, given: Vec::new(), scopes: Vec::new(), tables_made: 0 };
            names.query(query, false).map(drop)
        }
        Statement::Explain { statement, .. } => resolve(statement, known),
        _ => Ok(()),
    }
}

/// What is known at a node of the statement.
pub(super) struct NameResolver<'a> {
    pub(super) known: KnownColumns<'a>,
    /// The tables that WITH gives.
    pub(super) given: Vec<GivenTable>,
    /// What the queries around see, the innermost last.
    pub(super) scopes: Vec<VisibleColumns>,
    tables_made: usize,
}

/// A table that WITH gives.
pub(super) struct GivenTable {
    pub(super) name: String,
    /// What it is called in the plan, where a WITH around gives a table of its name: the planner
    /// refuses such names, also of one within a view.
    pub(super) written: Option<Ident>,
    pub(super) columns: ColumnNames,
}

impl NameResolver<'_> {
    /// What a query gives. The columns of one that is read by their names get names of their own.
    pub(super) fn query(&mut self, query: &mut Query, is_read: bool) -> Result<ColumnNames> {
        // Tables of a WITH are seen within its query alone: all beyond this number are dropped
        // below.
        let outside = self.given.len();
        if let Some(with) = &mut query.with {
            for table in &mut with.cte_tables {
                let name = folded(&table.alias.name);
                let is_taken = self.given[..outside].iter().any(|given| given.name == name);
                let written = is_taken.then(|| Ident::with_quote('"', self.unique_name("_with")));
                if let Some(written) = &written {
                    table.alias.name = written.clone();
                }
                // A recursive table reads itself, before anybody knows its columns.
                if with.recursive {
                    let columns = ColumnNames::unknown().under(Some(&table.alias));
                    let (name, written) = (name.clone(), written.clone());
                    self.given.push(GivenTable { name, written, columns });
                }
                let columns = self.query(&mut table.query, true)?.under(Some(&table.alias));
                if with.recursive {
                    self.given.pop();
                }
                self.given.push(GivenTable { name, written, columns });
            }
        }
        let columns = match query.body.as_mut() {
            SetExpr::Select(select) => {
                let (columns, hidden) = self.select(select, query.order_by.as_mut(), is_read)?;
                if let Some(hidden) = hidden {
                    add_hidden_keys(query, &hidden)?;
                }
                columns
            }
            body => {
                let columns = self.body(body, is_read)?;
                if let Some(OrderBy { kind: OrderByKind::Expressions(keys), .. }) =
                    &mut query.order_by
                {
                    let given = VisibleColumns::of_table(Vec::new(), columns.clone());
                    self.in_scope(given, |names| names.expressions(keys))?;
                }
                columns
            }
        };
        self.given.truncate(outside);
        Ok(columns)
    }

    fn body(&mut self, body: &mut SetExpr, is_read: bool) -> Result<ColumnNames> {
        match body {
            SetExpr::Select(select) => {
                self.select(select, None, is_read).map(|(columns, _)| columns)
            }
            SetExpr::Query(query) => self.query(query, is_read),
            SetExpr::SetOperation { left, right, set_quantifier, .. } => {
                let columns = self.body(left, is_read)?;
                self.body(right, is_read)?;
                Ok(match set_quantifier {
                    SetQuantifier::ByName
                    | SetQuantifier::AllByName
                    | SetQuantifier::DistinctByName => ColumnNames::unknown(),
                    _ => columns,
                })
            }
            SetExpr::Values(values) => {
                let width = values.rows.first().map_or(0, |row| row.content.len());
                self.in_scope(VisibleColumns::default(), |names| names.expressions(values))?;
                let names = (1..=width).map(|place| format!("column{place}")).collect();
                Ok(ColumnNames::whole(names))
            }
            _ => Ok(ColumnNames::unknown()),
        }
    }

    /// What a SELECT gives, and the keys of its order that its own aliases hide.
    fn select(
        &mut self,
        select: &mut Select,
        order: Option<&mut OrderBy>,
        is_read: bool,
    ) -> Result<(ColumnNames, Option<HiddenKeys>)> {
        let from = self.from(&mut select.from)?;
        refuse_unknown_replaced(select, &from)?;
        spell_out_stars(select, &from);
        let columns = outputs(select, &from);
        let twin = order.as_ref().and_then(|order| twin_key(order, &columns)).cloned();
        let mut hidden = None;
        let seen = from.clone();
        self.in_scope(seen, |names| {
            if let Some(OrderBy { kind: OrderByKind::Expressions(keys), .. }) = order {
                hidden = names.order(select, &columns, keys)?;
            }
            // FROM is done, and what DISTINCT ON takes for columns of the list stays.
            let tables = std::mem::take(&mut select.from);
            let distinct = select.distinct.take();
            names.expressions(select)?;
            select.from = tables;
            select.distinct = distinct;
            if let Some(Distinct::On(keys)) = &mut select.distinct {
                for key in keys {
                    let is_listed = matches!(key, Expr::Identifier(name)
                        if columns.names.contains(&folded(name)));
                    if !is_listed {
                        names.expressions(key)?;
                    }
                }
            }
            Ok(())
        })?;
        // The query that removes the keys of an order again reads the columns by their names.
        match (is_read || hidden.is_some()) && name_twins(select, &from) {
            true => match twin {
                Some(key) => Err(from.ambiguous(&key)),
                None => Ok((outputs(select, &from), hidden)),
            },
            false => Ok((columns, hidden)),
        }
    }

    /// The keys of ORDER BY: a bare name is a column of the list if there is one, every other one a
    /// column of FROM.
    fn order(
        &mut self,
        select: &Select,
        columns: &ColumnNames,
        keys: &mut [OrderByExpr],
    ) -> Result<Option<HiddenKeys>> {
        let mut hidden = HiddenKeys::default();
        for (place, key) in keys.iter_mut().enumerate() {
            if let Expr::Identifier(name) = &key.expr {
                let name = folded(name);
                let listed = columns.names.iter().filter(|column| **column == name).count();
                // At the top the planner refuses a name that several columns have. Further inside
                // it would look in the query around.
                if listed == 1
                    || listed > 1 && self.scopes.len() == 1 && !self.is_shared_name(&name)
                {
                    continue;
                }
            } else {
                let scope = self.scopes.last();
                if let Some(scope) = scope
                    && hidden.note(place, &mut key.expr, select, scope)?
                {
                    continue;
                }
            }
            self.expressions(&mut key.expr)?;
        }
        // By their names `add_hidden_keys` says which keys mean the same in the query around.
        Ok(hidden.into_some(columns))
    }

    /// Whether a name is one of a join by names here.
    fn is_shared_name(&self, name: &str) -> bool {
        self.scopes.last().is_some_and(
            |scope| matches!(scope.find(name), ColumnMatch::One(column) if column.shared.is_some()),
        )
    }

    pub(super) fn unique_name(&mut self, what: &str) -> String {
        self.tables_made += 1;
        format!("{what}{}", self.tables_made)
    }

    /// Does something where these columns are seen too.
    pub(super) fn in_scope<T>(
        &mut self,
        columns: VisibleColumns,
        work: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        self.scopes.push(columns);
        let done = work(self);
        self.scopes.pop();
        done
    }
}

/// A key of an order that is the name of several columns of the list.
fn twin_key<'a>(order: &'a OrderBy, columns: &ColumnNames) -> Option<&'a Ident> {
    let OrderByKind::Expressions(keys) = &order.kind else { return None };
    keys.iter().find_map(|key| match &key.expr {
        Expr::Identifier(name) => {
            let name_of = folded(name);
            let listed = columns.names.iter().filter(|column| **column == name_of).count();
            (listed > 1).then_some(name)
        }
        _ => None,
    })
}

//! The columns that a FROM shows to the clauses of its SELECT.

use datafusion::sql::sqlparser::ast::{Expr, Ident, SelectItem, TableAlias};
use tonnage::Error;

use crate::errors::{ambiguous, invalid_at};
use crate::text::folded;

/// The names of the columns of a table or query.
#[derive(Clone, Debug, Default)]
pub(super) struct ColumnNames {
    pub(super) names: Vec<String>,
    /// Whether these are all of them.
    pub(super) is_whole: bool,
}

impl ColumnNames {
    pub(super) fn whole(names: Vec<String>) -> Self {
        Self { names, is_whole: true }
    }

    /// Nothing is known of them.
    pub(super) fn unknown() -> Self {
        Self::default()
    }

    /// The same under the names that an alias gives.
    pub(super) fn under(mut self, alias: Option<&TableAlias>) -> Self {
        let given = alias.iter().flat_map(|alias| &alias.columns).enumerate();
        for (place, column) in given {
            let name = folded(&column.name);
            match self.names.get_mut(place) {
                Some(known) => *known = name,
                None if !self.is_whole => self.names.push(name),
                None => {}
            }
        }
        self
    }
}

/// A column that a bare name may mean.
#[derive(Clone, Debug)]
pub(super) struct VisibleColumn {
    pub(super) name: String,
    /// The name of its table, as far as it can be written before it.
    table: Vec<Ident>,
    /// The expression that a join by names gave it.
    pub(super) shared: Option<Expr>,
}

impl VisibleColumn {
    /// The column in words that mean no other one.
    pub(super) fn to_expr(&self) -> Expr {
        if let Some(shared) = &self.shared {
            return shared.clone();
        }
        let name = Ident::with_quote('"', &self.name);
        match self.table.is_empty() {
            true => Expr::Identifier(name),
            false => {
                let mut parts = self.table.clone();
                parts.push(name);
                Expr::CompoundIdentifier(parts)
            }
        }
    }

    /// Whether it is one of a table.
    pub(super) fn is_of(&self, table: &str) -> bool {
        self.table.last().is_some_and(|own| folded(own) == table)
    }

    /// Whether these are words for the column.
    pub(super) fn is_meant_by(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Identifier(name) => folded(name) == self.name,
            Expr::CompoundIdentifier(parts) => {
                let [.., table, name] = parts.as_slice() else { return false };
                folded(name) == self.name
                    && self.table.last().is_some_and(|own| folded(own) == folded(table))
            }
            _ => false,
        }
    }
}

/// What a name means.
pub(super) enum ColumnMatch<'a> {
    One(&'a VisibleColumn),
    Several,
    Nothing,
}

/// The tables and columns of a FROM, or of a part of it.
#[derive(Clone, Debug)]
pub(super) struct VisibleColumns {
    pub(super) columns: Vec<VisibleColumn>,
    /// The names of the tables.
    tables: Vec<String>,
    pub(super) is_whole: bool,
    /// How deep joins by names are nested.
    pub(super) depth: usize,
}

impl Default for VisibleColumns {
    fn default() -> Self {
        Self { columns: Vec::new(), tables: Vec::new(), is_whole: true, depth: 0 }
    }
}

impl VisibleColumns {
    pub(super) fn of_table(table: Vec<Ident>, columns: ColumnNames) -> Self {
        let column = |name| VisibleColumn { name, table: table.clone(), shared: None };
        Self {
            columns: columns.names.into_iter().map(column).collect(),
            tables: table.last().map(folded).into_iter().collect(),
            is_whole: columns.is_whole,
            depth: 0,
        }
    }

    pub(super) fn followed_by(mut self, other: Self) -> Self {
        self.columns.extend(other.columns);
        self.tables.extend(other.tables);
        self.is_whole &= other.is_whole;
        self.depth = self.depth.max(other.depth);
        self
    }

    /// Both sides of a join that makes one column of each pair: where it is on the left side.
    pub(super) fn joined(mut self, mut other: Self, made: Vec<(String, Expr)>) -> Self {
        for (name, shared) in made {
            other.columns.retain(|column| column.name != name);
            let whole = VisibleColumn { name, table: Vec::new(), shared: Some(shared) };
            match self.columns.iter_mut().find(|column| column.name == whole.name) {
                Some(column) => *column = whole,
                None => self.columns.push(whole),
            }
        }
        self.followed_by(other)
    }

    /// The same without columns of these names.
    pub(super) fn without(mut self, names: &[String]) -> Self {
        self.columns.retain(|column| !names.contains(&column.name));
        self
    }

    pub(super) fn find(&self, name: &str) -> ColumnMatch<'_> {
        let mut found = self.columns.iter().filter(|column| column.name == name);
        match (found.next(), found.next()) {
            (None, _) => ColumnMatch::Nothing,
            (Some(one), None) => ColumnMatch::One(one),
            (Some(_), Some(_)) => ColumnMatch::Several,
        }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.columns.iter().any(|column| column.name == name)
    }

    pub(super) fn has_table(&self, name: &str) -> bool {
        self.tables.iter().any(|table| table == name)
    }

    /// What is wrong with a name that several of the columns have.
    pub(super) fn ambiguous(&self, name: &Ident) -> Error {
        let wanted = folded(name);
        let meant = self.columns.iter().filter(|column| column.name == wanted);
        let meant: Vec<String> =
            meant.map(|column| column.to_expr().to_string().replace('"', "")).collect();
        invalid_at(name.span.start, ambiguous(&wanted, &meant))
    }

    /// The column that is written so, with its table before it or without.
    fn find_written(&self, written: &Expr) -> Option<&VisibleColumn> {
        let mut meant = self.columns.iter().filter(|column| column.is_meant_by(written));
        if let (Some(column), None) = (meant.next(), meant.next()) {
            return Some(column);
        }
        // A column of USING has no table of its own.
        let name = match written {
            Expr::Identifier(name) => name,
            Expr::CompoundIdentifier(parts) => parts.last()?,
            _ => return None,
        };
        match self.find(&folded(name)) {
            ColumnMatch::One(column) => Some(column),
            _ => None,
        }
    }

    /// Whether an item of a list is under a name that hides this column: a column under its own
    /// name hides nothing.
    pub(super) fn is_hidden_by(&self, item: &SelectItem, written: &Expr) -> bool {
        let Some(column) = self.find_written(written) else { return false };
        match item {
            // The planner names a cast after the column, with its table.
            SelectItem::UnnamedExpr(expr @ Expr::Cast { .. }) => {
                column.is_meant_by(without_casts(expr))
            }
            SelectItem::ExprWithAlias { expr, alias } => {
                let mut alike = self.columns.iter().filter(|other| other.name == column.name);
                folded(alias) == column.name && !alike.any(|other| other.is_meant_by(expr))
            }
            _ => false,
        }
    }

    /// The names that both sides of a NATURAL join have, if they are known.
    pub(super) fn common(&self, other: &Self) -> Option<Vec<String>> {
        let mut names = Vec::new();
        for column in &self.columns {
            if other.has(&column.name) && !names.contains(&column.name) {
                names.push(column.name.clone());
            }
        }
        (self.is_whole && other.is_whole && !names.is_empty()).then_some(names)
    }
}

/// What is cast.
fn without_casts(expr: &Expr) -> &Expr {
    match expr {
        Expr::Cast { expr, .. } | Expr::Nested(expr) => without_casts(expr),
        expr => expr,
    }
}

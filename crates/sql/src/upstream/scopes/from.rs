//! Collects the columns that a FROM gives, of its tables and of joins by names.

use datafusion::sql::sqlparser::ast::{
    Expr, Ident, Join, JoinConstraint, JoinOperator, ObjectName, TableAlias, TableFactor,
    TableWithJoins,
};
use tonnage::Result;

use super::resolver::{GivenTable, NameResolver};
use super::visible::{ColumnNames, VisibleColumns};
use crate::text::{folded, is_by_names};
use crate::upstream::is_counted;

impl NameResolver<'_> {
    pub(super) fn from(&mut self, from: &mut [TableWithJoins]) -> Result<VisibleColumns> {
        let mut whole = VisibleColumns::default();
        for table in from {
            let columns = self.table(table, &whole)?;
            whole = whole.followed_by(columns);
        }
        Ok(whole)
    }

    /// A table and what is joined to it, beside others that LATERAL sees.
    fn table(
        &mut self,
        table: &mut TableWithJoins,
        before: &VisibleColumns,
    ) -> Result<VisibleColumns> {
        // Sets are distinguished by position alone.
        let hides = !self.scopes.is_empty() && !table.joins.iter().any(is_counted);
        if hides || table.joins.iter().any(is_by_names) {
            self.name(&mut table.relation);
            table.joins.iter_mut().for_each(|join| self.name(&mut join.relation));
        }
        let mut left = self.factor(&mut table.relation, before)?;
        for join in &mut table.joins {
            let seen = before.clone().followed_by(left.clone());
            let right = self.factor(&mut join.relation, &seen)?;
            left = self.joined(left, right, join)?;
        }
        Ok(left)
    }

    /// Gives a query without name one. Else its columns would bear the names of the tables in it,
    /// hide those of tables further outside, and be called alike.
    fn name(&mut self, factor: &mut TableFactor) {
        if let TableFactor::Derived { alias: alias @ None, .. } = factor {
            let name = Ident::with_quote('"', self.unique_name("_unnamed"));
            *alias = Some(TableAlias { explicit: true, name, columns: Vec::new(), at: None });
        }
    }

    fn factor(
        &mut self,
        factor: &mut TableFactor,
        before: &VisibleColumns,
    ) -> Result<VisibleColumns> {
        match factor {
            TableFactor::Table { name, alias, args: None, .. } => {
                let columns = self.columns_of(name).under(alias.as_ref());
                let table = match alias {
                    Some(alias) => Some(vec![alias.name.clone()]),
                    None => name.0.iter().map(|part| part.as_ident().cloned()).collect(),
                };
                // Only the plan sees the new name: before columns the query continues writing its
                // own.
                if let Some(written) = self.given(name).and_then(|given| given.written.clone()) {
                    let own = name.0.last().and_then(|part| part.as_ident()).cloned();
                    *name = ObjectName::from(vec![written]);
                    let under =
                        |name| TableAlias { explicit: true, name, columns: Vec::new(), at: None };
                    if alias.is_none() {
                        *alias = own.map(under);
                    }
                }
                // A file is named between single quotes.
                let is_plain =
                    |parts: &Vec<Ident>| parts.iter().all(|part| part.quote_style != Some('\''));
                let table = table.filter(is_plain).unwrap_or_default();
                Ok(VisibleColumns::of_table(table, columns))
            }
            TableFactor::Derived { lateral, subquery, alias, .. } => {
                // Only LATERAL may name what precedes it in FROM: any other subquery sees the
                // queries around it alone.
                let columns = match lateral {
                    true => self.in_scope(before.clone(), |names| names.query(subquery, true))?,
                    false => self.query(subquery, true)?,
                };
                let table = alias.iter().map(|alias| alias.name.clone()).collect();
                Ok(VisibleColumns::of_table(table, columns.under(alias.as_ref())))
            }
            TableFactor::NestedJoin { table_with_joins, alias } => {
                let columns = self.table(table_with_joins, before)?;
                let Some(alias) = alias else { return Ok(columns) };
                let names = columns.columns.iter().map(|column| column.name.clone()).collect();
                let names = ColumnNames { names, is_whole: columns.is_whole };
                let names = names.under(Some(alias));
                Ok(VisibleColumns::of_table(vec![alias.name.clone()], names))
            }
            TableFactor::Table { alias, .. }
            | TableFactor::Function { alias, .. }
            | TableFactor::UNNEST { alias, .. } => {
                let table = alias.iter().map(|alias| alias.name.clone()).collect();
                let columns = ColumnNames::unknown().under(alias.as_ref());
                self.in_scope(before.clone(), |names| names.expressions(factor))?;
                Ok(VisibleColumns::of_table(table, columns))
            }
            _ => Ok(VisibleColumns::of_table(Vec::new(), ColumnNames::unknown())),
        }
    }

    /// The table that WITH gives under a name.
    fn given(&self, name: &ObjectName) -> Option<&GivenTable> {
        let [part] = name.0.as_slice() else { return None };
        let part = folded(part.as_ident()?);
        self.given.iter().rev().find(|given| given.name == part)
    }

    fn columns_of(&self, name: &ObjectName) -> ColumnNames {
        match self.given(name) {
            Some(given) => given.columns.clone(),
            None => (self.known)(name).map_or_else(ColumnNames::unknown, ColumnNames::whole),
        }
    }

    fn joined(
        &mut self,
        left: VisibleColumns,
        right: VisibleColumns,
        join: &mut Join,
    ) -> Result<VisibleColumns> {
        use JoinOperator::{LeftAnti, LeftSemi, RightAnti, RightSemi};
        // It replaces INTERSECT ALL or EXCEPT ALL: no condition, and columns of the left side
        // alone.
        if is_counted(join) {
            return Ok(left);
        }
        let is_own = is_by_names(join);
        let (mut is_left, mut is_right) = (true, true);
        match &join.join_operator {
            LeftSemi(_) | LeftAnti(_) => is_right = false,
            RightSemi(_) | RightAnti(_) => is_left = false,
            _ => {}
        }
        if let JoinOperator::AsOf { match_condition, .. } = &mut join.join_operator {
            let both = left.clone().followed_by(right.clone());
            self.in_scope(both, |names| names.expressions(match_condition))?;
        }
        match constraint_of(&mut join.join_operator) {
            Some(JoinConstraint::On(condition)) => {
                let both = left.clone().followed_by(right.clone());
                self.in_scope(both, |names| names.expressions(condition))?;
            }
            Some(constraint) if is_own => return self.joined_by_names(left, right, constraint),
            Some(JoinConstraint::Using(names)) => {
                // The planner makes no column of these: the one of the left side means both.
                let names: Vec<String> = names.iter().filter_map(last).collect();
                return Ok(match (is_left, is_right) {
                    (true, true) => left.followed_by(right.without(&names)),
                    (true, false) => left,
                    _ => right,
                });
            }
            _ => {}
        }
        Ok(match (is_left, is_right) {
            (true, true) => left.followed_by(right),
            (true, false) => left,
            _ => right,
        })
    }

    fn joined_by_names(
        &mut self,
        left: VisibleColumns,
        right: VisibleColumns,
        constraint: &mut JoinConstraint,
    ) -> Result<VisibleColumns> {
        let names = match constraint {
            JoinConstraint::Using(names) => names.iter().filter_map(last).collect(),
            _ => match left.common(&right) {
                Some(names) => names,
                // The planner knows their columns.
                None => return Ok(left.followed_by(right)),
            },
        };
        let depth = left.depth.max(right.depth) + 1;
        // Such tables come before all others, the outer ones before the inner ones.
        let table = format!("{}{}", " ".repeat(depth), self.unique_name("joined"));
        let parts =
            |name: &String| [&table, name].map(|part| Ident::with_quote('"', part)).to_vec();
        *constraint =
            JoinConstraint::Using(names.iter().map(|name| ObjectName::from(parts(name))).collect());
        let made = |name: String| {
            let column = Expr::CompoundIdentifier(parts(&name));
            (name, column)
        };
        let mut joined = left.joined(right, names.into_iter().map(made).collect());
        joined.depth = depth;
        Ok(joined)
    }
}

fn last(name: &ObjectName) -> Option<String> {
    name.0.last().and_then(|part| part.as_ident()).map(folded)
}

fn constraint_of(operator: &mut JoinOperator) -> Option<&mut JoinConstraint> {
    use JoinOperator::{
        Anti, AsOf, CrossJoin, FullOuter, Inner, Join as Plain, Left, LeftAnti, LeftOuter,
        LeftSemi, Right, RightAnti, RightOuter, RightSemi, Semi, StraightJoin,
    };
    match operator {
        Plain(constraint)
        | Inner(constraint)
        | Left(constraint)
        | LeftOuter(constraint)
        | Right(constraint)
        | RightOuter(constraint)
        | FullOuter(constraint)
        | CrossJoin(constraint)
        | Semi(constraint)
        | LeftSemi(constraint)
        | RightSemi(constraint)
        | Anti(constraint)
        | LeftAnti(constraint)
        | RightAnti(constraint)
        | StraightJoin(constraint)
        | AsOf { constraint, .. } => Some(constraint),
        _ => None,
    }
}

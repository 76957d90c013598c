//! The items and the rows of further tables that belong to a row.
//!
//! Rows are read by the leading columns of their key where these are known, and kept while the
//! query runs; else the whole table is read once. Memory is bounded as for all that a query holds.

use std::collections::HashMap;
use std::sync::Arc;

use tonnage::{Direction, Row, Table, Value};

use super::budget::MemoryBudget;
use super::columns::RowColumns;
use super::part::QueryCall;
use super::rows::FoundRows;
use crate::query::item::{GroupForm, Item, Sequence};
use crate::query::plan::{
    AccessPath, JoinStep, KeyValue, SelectPlan, TableJoin, UsedColumns, key_value,
};
use crate::wire::Outcome;

/// Combinations of items, one for each item of FROM.
pub(super) type Combinations = Vec<Vec<Item>>;

/// Finds what belongs to the rows of the first table.
pub(super) struct JoinReader<'c> {
    call: &'c QueryCall<'c>,
    plan: &'c SelectPlan,
    tables: Vec<TableRows<'c>>,
}

/// The rows of a table that were read.
struct TableRows<'c> {
    table: &'c Table,
    /// By the values of the leading columns of the key; without any all rows of the table.
    kept: HashMap<GroupForm, Arc<[Item]>>,
}

impl<'c> JoinReader<'c> {
    pub(super) fn new(call: &'c QueryCall<'c>, plan: &'c SelectPlan) -> Self {
        let tables = call.joined.iter().map(|table| TableRows { table, kept: HashMap::new() });
        Self { call, plan, tables: tables.collect() }
    }

    /// All combinations that belong to a row.
    pub(super) fn combinations(
        &mut self,
        columns: &RowColumns,
        budget: &mut MemoryBudget,
    ) -> Outcome<Combinations> {
        let mut out = Vec::new();
        self.join(0, columns, &mut Vec::new(), budget, &mut out)?;
        Ok(out)
    }

    /// Gives back what combinations took.
    pub(super) fn release(&self, combinations: &Combinations, budget: &mut MemoryBudget) {
        if !self.tables.is_empty() {
            let items: usize = combinations.iter().map(Vec::len).sum();
            budget.give_back(items * size_of::<Item>());
        }
    }

    fn join(
        &mut self,
        at: usize,
        columns: &RowColumns,
        taken: &mut Vec<Item>,
        budget: &mut MemoryBudget,
        out: &mut Combinations,
    ) -> Outcome<()> {
        let plan = self.plan;
        match plan.joins.get(at) {
            None => {
                if !self.tables.is_empty() {
                    budget.take(taken.len() * size_of::<Item>())?;
                }
                out.push(taken.clone());
                Ok(())
            }
            Some(JoinStep::Items(from)) => {
                let given = self.call.evaluator.evaluate(&from.expr, &columns.scope(taken))?;
                let items = match given {
                    // A row without items is kept with NULL.
                    Sequence::Empty if from.is_unnest => vec![Item::Null],
                    given => given.into_vec(),
                };
                for item in items {
                    taken.push(item);
                    self.join(at + 1, columns, taken, budget, out)?;
                    taken.pop();
                }
                Ok(())
            }
            Some(JoinStep::Table(table)) => {
                let mut is_found = false;
                // What fits is decided by the conditions: the key only leads to fewer rows.
                for item in self.candidates(table, columns, taken, budget)?.iter() {
                    taken.push(item.clone());
                    if self.fits(table, columns, taken)? {
                        is_found = true;
                        self.join(at + 1, columns, taken, budget, out)?;
                    }
                    taken.pop();
                }
                if !is_found && table.is_outer {
                    taken.push(Item::Null);
                    self.join(at + 1, columns, taken, budget, out)?;
                    taken.pop();
                }
                Ok(())
            }
            Some(JoinStep::Branches(tables)) => {
                let first = taken.len();
                taken.resize(first + tables.len(), Item::Null);
                // Kept apart until all are known: further tables are joined to each of them.
                let mut branches = Vec::new();
                let mut grown = Branch { tables, first, out: &mut branches };
                if !self.grow(&mut grown, None, columns, taken, budget)? {
                    branches.push(vec![Item::Null; tables.len()]);
                }
                for branch in branches {
                    taken.truncate(first);
                    taken.extend(branch);
                    self.join(at + 1, columns, taken, budget, out)?;
                }
                taken.truncate(first);
                Ok(())
            }
        }
    }

    /// Adds the branches below a table. False where there is none.
    fn grow(
        &mut self,
        branch: &mut Branch<'_>,
        parent: Option<usize>,
        columns: &RowColumns,
        taken: &mut Vec<Item>,
        budget: &mut MemoryBudget,
    ) -> Outcome<bool> {
        let mut is_found = false;
        let tables = branch.tables;
        for (place, table) in tables.iter().enumerate().filter(|(_, own)| own.parent == parent) {
            for item in self.candidates(table, columns, taken, budget)?.iter() {
                taken[branch.first + place] = item.clone();
                if self.fits(table, columns, taken)? {
                    is_found = true;
                    if !self.grow(branch, Some(place), columns, taken, budget)? {
                        branch.out.push(taken[branch.first..].to_vec());
                    }
                }
                taken[branch.first + place] = Item::Null;
            }
        }
        Ok(is_found)
    }

    fn fits(&self, table: &TableJoin, columns: &RowColumns, taken: &[Item]) -> Outcome<bool> {
        for condition in &table.on {
            if self.call.evaluator.truth(condition, &columns.scope(taken))? != Some(true) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The rows of a table among which are all that fit.
    fn candidates(
        &mut self,
        join: &TableJoin,
        columns: &RowColumns,
        taken: &[Item],
        budget: &mut MemoryBudget,
    ) -> Outcome<Arc<[Item]>> {
        let scope = columns.scope(taken);
        let schema = self.tables[join.table].table.schema();
        let (mut key, mut form): (Vec<Value>, _) = (Vec::new(), GroupForm::default());
        for (column, expr) in schema.key_columns().zip(&join.key) {
            let item = match self.call.evaluator.evaluate(expr, &scope)? {
                Sequence::One(item) => item,
                // Nothing equals nothing.
                Sequence::Empty => return Ok(Arc::from([])),
                Sequence::Many(_) => break,
            };
            match key_value(&item, column.column_type) {
                KeyValue::Value(value) => {
                    form.push(&item);
                    key.push(value);
                }
                KeyValue::Never => return Ok(Arc::from([])),
                KeyValue::Unknown => break,
            }
        }
        // Less than a shard key leads nowhere.
        if key.len() < schema.shard_key_len {
            (key, form) = (Vec::new(), GroupForm::default());
        }
        if let Some(rows) = self.tables[join.table].kept.get(&form) {
            return Ok(rows.clone());
        }
        let rows = self.read(join.table, key, budget)?;
        budget.take(form.len())?;
        self.tables[join.table].kept.insert(form, rows.clone());
        Ok(rows)
    }

    fn read(
        &self,
        table: usize,
        key: Vec<Value>,
        budget: &mut MemoryBudget,
    ) -> Outcome<Arc<[Item]>> {
        let table = self.tables[table].table;
        let schema = table.schema();
        // Without values of the key all rows are candidates.
        let (count, whole) = (key.len(), schema.key.len());
        let named = schema.key_columns().map(|column| column.name.as_str()).zip(key);
        let key: Row = named.collect();
        let path = match count {
            0 => AccessPath::Scan,
            _ if count == whole => AccessPath::Key(key),
            _ => AccessPath::Prefix(key, None),
        };
        let mut columns =
            RowColumns::new(table, &UsedColumns { has_row: true, ..UsedColumns::default() });
        let mut found =
            FoundRows::open(self.call.call, table, &path, None, None, Direction::Forward)?;
        // Held while the query runs, so that the budget must have room for them.
        let mut rows = Vec::new();
        while let Some(row) = found.next_row()? {
            columns.load(&row);
            let item = columns.record();
            budget.take(item.bytes())?;
            rows.push(item);
        }
        Ok(rows.into())
    }
}

/// The tables below another one, and what was found of them.
struct Branch<'b> {
    tables: &'b [TableJoin],
    /// The position of the first of them.
    first: usize,
    out: &'b mut Combinations,
}

//! Expressions, kind by kind.

use std::sync::Arc;

use super::comparison::{compare_sequences, equals_any};
use super::evaluator::{Evaluator, fault};
use super::functions::call_function;
use super::scope::{Scope, StepScope};
use crate::query::item::{Item, Members, Sequence, item_text};
use crate::query::syntax::{Comparison, Expr, ExprKind, InList, Matching};
use crate::wire::Outcome;

impl Evaluator {
    /// What an expression gives.
    ///
    /// # Errors
    /// What cannot be computed, and where.
    pub(crate) fn evaluate(&self, expr: &Expr, scope: &Scope<'_>) -> Outcome<Sequence> {
        let truth = |truth: Option<bool>| Sequence::One(truth.map_or(Item::Null, Item::Boolean));
        Ok(match &expr.kind {
            ExprKind::Constant(item) => item.clone().into(),
            // What is not bound was refused before: NULL means no mistake here.
            ExprKind::Bound(place) => self.bound.get(*place).cloned().unwrap_or(Item::Null).into(),
            ExprKind::Column(column) => scope.columns[*column].clone().into(),
            ExprKind::Unnested(place) => scope.unnested[*place].clone().into(),
            ExprKind::GroupKey(place) => scope.groups[*place].clone().into(),
            ExprKind::Aggregated(place) => scope.aggregated[*place].clone(),
            ExprKind::Row => row_item(scope).into(),
            ExprKind::Variable(name) => self.step_variable(expr, name, &scope.step)?,
            ExprKind::Path(base, steps) => {
                let base = self.evaluate(base, scope)?;
                self.walk(base, steps, scope)?
            }
            ExprKind::Array(items) => self.array(items, scope)?,
            ExprKind::Map(members) => self.map(members, scope)?,
            ExprKind::Call(name, arguments) => {
                let given: Outcome<Vec<Sequence>> = match arguments.first().map(|first| &first.kind)
                {
                    // Functions of rows ask for what is known of the row, not for its columns.
                    Some(ExprKind::Row) if arguments.len() == 1 => Ok(vec![Sequence::Empty]),
                    _ => arguments.iter().map(|of| self.evaluate(of, scope)).collect(),
                };
                call_function(self, expr.place, name, given?, scope)?
            }
            ExprKind::Transform(input, mapper) => self.transform(input, mapper, scope)?,
            ExprKind::Case(branches, otherwise) => {
                for (when, then) in branches {
                    if self.truth(when, scope)? == Some(true) {
                        return self.evaluate(then, scope);
                    }
                }
                match otherwise {
                    Some(otherwise) => self.evaluate(otherwise, scope)?,
                    None => Sequence::null(),
                }
            }
            ExprKind::Cast(of, to) => {
                let given = self.evaluate(of, scope)?;
                self.cast(expr.place, given, to)?
            }
            ExprKind::Extract(unit, of) => {
                let given = vec![self.evaluate(of, scope)?];
                call_function(self, expr.place, unit, given, scope)?
            }
            ExprKind::Arithmetic(first, rest) => self.arithmetic(expr.place, first, rest, scope)?,
            ExprKind::Negated(of) => {
                let given = self.evaluate(of, scope)?;
                self.negated(expr.place, given)?
            }
            ExprKind::Concatenated(parts) => self.joined(parts, scope)?,
            ExprKind::Compared(left, comparison, matching, right) => {
                let left = self.evaluate(left, scope)?;
                let right = self.evaluate(right, scope)?;
                truth(compare_sequences(expr.place, &left, *comparison, *matching, &right)?)
            }
            ExprKind::Between(value, low, high) => {
                let value = self.evaluate(value, scope)?;
                let end = |end: &Expr, comparison| -> Outcome<Option<bool>> {
                    let end = self.evaluate(end, scope)?;
                    compare_sequences(expr.place, &value, comparison, Matching::Value, &end)
                };
                let ends =
                    [end(low, Comparison::GreaterOrEqual)?, end(high, Comparison::LessOrEqual)?];
                truth(all(ends.into_iter()))
            }
            ExprKind::In(values, list) => truth(self.is_in(expr, values, list, scope)?),
            ExprKind::Exists(of) => self.exists(of, scope)?,
            ExprKind::IsNull(of, is_not) => {
                let given = self.evaluate(of, scope)?;
                if matches!(given, Sequence::Many(_)) {
                    return Err(fault(expr.place, "the operand of IS NULL has several items"));
                }
                let is_null = given.as_slice().first().is_some_and(Item::is_null);
                (is_null != *is_not).into()
            }
            ExprKind::IsOfType(of, types, is_not) => {
                let given = self.evaluate(of, scope)?;
                let answer = super::of_type::is_of_type(&given, types);
                truth(answer.map(|answer| answer != *is_not))
            }
            ExprKind::Not(of) => truth(self.truth(of, scope)?.map(|truth| !truth)),
            ExprKind::And(parts) => truth(self.all_of(parts, scope)?),
            ExprKind::Or(parts) => truth(self.any_of(parts, scope)?),
            ExprKind::Name(_)
            | ExprKind::CountRows
            | ExprKind::CountDistinct(_)
            | ExprKind::Collect(..) => {
                return Err(fault(expr.place, "this has no meaning here"));
            }
        })
    }

    /// A condition: nothing is neither true nor false.
    pub(crate) fn truth(&self, expr: &Expr, scope: &Scope<'_>) -> Outcome<Option<bool>> {
        match &expr.kind {
            ExprKind::And(parts) => return self.all_of(parts, scope),
            ExprKind::Or(parts) => return self.any_of(parts, scope),
            _ => {}
        }
        match self.evaluate(expr, scope)? {
            Sequence::Empty => Ok(Some(false)),
            Sequence::One(Item::Boolean(truth)) => Ok(Some(truth)),
            Sequence::One(Item::Null) => Ok(None),
            Sequence::One(other) => {
                let kind = other.kind_name().to_ascii_uppercase();
                let message = format!(
                    "Cannot promote item of type :\n{{\n  \"type\" : \"{kind}\"\n}}\nto type \
                     :\nBoolean?"
                );
                Err(fault(expr.place, &message))
            }
            Sequence::Many(_) => {
                Err(fault(expr.place, "a condition is a sequence of several items"))
            }
        }
    }

    fn all_of(&self, parts: &[Expr], scope: &Scope<'_>) -> Outcome<Option<bool>> {
        let mut answer = Some(true);
        for part in parts {
            match self.truth(part, scope)? {
                Some(true) => {}
                Some(false) => return Ok(Some(false)),
                None => answer = None,
            }
        }
        Ok(answer)
    }

    fn any_of(&self, parts: &[Expr], scope: &Scope<'_>) -> Outcome<Option<bool>> {
        let mut answer = Some(false);
        for part in parts {
            match self.truth(part, scope)? {
                Some(true) => return Ok(Some(true)),
                Some(false) => {}
                None => answer = None,
            }
        }
        Ok(answer)
    }

    fn step_variable(&self, expr: &Expr, name: &str, step: &StepScope<'_>) -> Outcome<Sequence> {
        let item = match name {
            "" => step.context.cloned(),
            "element" | "value" => step.element.cloned(),
            "pos" if step.element.is_some() => i32::try_from(step.position).ok().map(Item::Integer),
            "key" => step.key.map(Item::from),
            _ => None,
        };
        let unknown = || fault(expr.place, &format!(" Unknown variable ${name}"));
        item.map(Sequence::One).ok_or_else(unknown)
    }

    /// NULL is left out; the null of documents is not.
    fn array(&self, items: &[Expr], scope: &Scope<'_>) -> Outcome<Sequence> {
        let mut array = Vec::new();
        for item in items {
            let given = self.evaluate(item, scope)?.into_vec();
            array.extend(given.into_iter().filter(|item| !item.is_null()));
        }
        Ok(Item::from(array).into())
    }

    fn map(&self, members: &[(Expr, Expr)], scope: &Scope<'_>) -> Outcome<Sequence> {
        let mut map: Vec<(Arc<str>, Item)> = Vec::new();
        for (key, value) in members {
            let name = match self.evaluate(key, scope)? {
                Sequence::One(Item::String(name)) => name,
                Sequence::Empty | Sequence::One(Item::Null) => continue,
                _ => return Err(fault(key.place, "the name of a member is not a single text")),
            };
            let value = match self.evaluate(value, scope)? {
                Sequence::Empty | Sequence::One(Item::Null) => continue,
                value => value.into_field(),
            };
            match map.iter_mut().find(|(other, _)| *other == name) {
                Some((_, place)) => *place = value,
                None => map.push((name, value)),
            }
        }
        Ok(Item::Map(Arc::new(map)).into())
    }

    fn transform(&self, input: &Expr, mapper: &Expr, scope: &Scope<'_>) -> Outcome<Sequence> {
        let mut out = Vec::new();
        for item in self.evaluate(input, scope)?.as_slice() {
            let step = StepScope { context: Some(item), ..scope.step };
            out.extend(self.evaluate(mapper, &Scope { step, ..*scope })?.into_vec());
        }
        Ok(out.into())
    }

    /// Concatenated texts. NULL and nothing are nothing.
    fn joined(&self, parts: &[Expr], scope: &Scope<'_>) -> Outcome<Sequence> {
        let (mut text, mut is_null) = (String::new(), true);
        for part in parts {
            let given = self.evaluate(part, scope)?;
            for item in given.as_slice().iter().filter(|item| !item.is_null()) {
                text.push_str(&item_text(item));
                is_null = false;
            }
        }
        Ok(if is_null { Sequence::null() } else { Item::from(text).into() })
    }

    fn is_in(
        &self,
        expr: &Expr,
        values: &[Expr],
        list: &InList,
        scope: &Scope<'_>,
    ) -> Outcome<Option<bool>> {
        let given: Outcome<Vec<Sequence>> =
            values.iter().map(|value| self.evaluate(value, scope)).collect();
        let given = given?;
        let mut answer = Some(false);
        let equal = |one: &Sequence, other: &Sequence| {
            compare_sequences(expr.place, one, Comparison::Equal, Matching::Value, other)
        };
        match list {
            InList::Sequence(sequence) => {
                let sequence = self.evaluate(sequence, scope)?;
                if let [one] = &given[..] {
                    return equals_any(expr.place, one, sequence.as_slice());
                }
                // So many items of the sequence at a time are compared with so many values.
                let tuples = sequence.as_slice().chunks_exact(given.len());
                if !tuples.remainder().is_empty() {
                    return Err(fault(
                        expr.place,
                        "the sequence of IN has no whole number of rows of values",
                    ));
                }
                for tuple in tuples {
                    let pairs = given.iter().zip(tuple);
                    let matches = pairs.map(|(value, item)| equal(value, &item.clone().into()));
                    match all(matches.collect::<Outcome<Vec<_>>>()?.into_iter()) {
                        Some(true) => return Ok(Some(true)),
                        Some(false) => {}
                        None => answer = None,
                    }
                }
            }
            InList::Tuples(tuples) => {
                for tuple in tuples {
                    let mut matches = Vec::with_capacity(tuple.len());
                    for (value, other) in given.iter().zip(tuple) {
                        matches.push(equal(value, &self.evaluate(other, scope)?)?);
                    }
                    // One row that matches is enough, and NULL in another is none of its business.
                    match all(matches.into_iter()) {
                        Some(true) => return Ok(Some(true)),
                        Some(false) => {}
                        None => answer = None,
                    }
                }
            }
        }
        Ok(answer)
    }

    /// A column is always there, whatever it holds; a place below NULL is not known to be.
    fn exists(&self, of: &Expr, scope: &Scope<'_>) -> Outcome<Sequence> {
        if matches!(of.kind, ExprKind::Column(_) | ExprKind::Constant(_) | ExprKind::Row) {
            return Ok(true.into());
        }
        Ok(match self.evaluate(of, scope)? {
            Sequence::Empty => false.into(),
            Sequence::One(Item::Null) => Sequence::null(),
            _ => true.into(),
        })
    }
}

/// All of some truths.
fn all(truths: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut answer = Some(true);
    for truth in truths {
        match truth {
            Some(true) => {}
            Some(false) => return Some(false),
            None => answer = None,
        }
    }
    answer
}

/// The row itself: a record of its columns, or a map of all its fields in a JSON collection.
fn row_item(scope: &Scope<'_>) -> Item {
    let columns = scope.names.iter().cloned().zip(scope.columns.iter().cloned());
    let Some(document) = scope.document else {
        return Item::Record(Arc::new(columns.collect()));
    };
    let mut fields: Members = Vec::with_capacity(scope.columns.len());
    for (place, (name, item)) in columns.enumerate() {
        match item.members().filter(|_| place == document) {
            Some(members) => fields.extend(members.iter().cloned()),
            None => fields.push((name, item)),
        }
    }
    Item::Map(Arc::new(fields))
}

//! Conditions in the text of a statement, from OR down to comparisons.

use super::parser::Parser;
use super::place::Place;
use super::tree::{Comparison, Expr, ExprKind, InList, Matching};
use crate::wire::Outcome;

/// The signs and words of comparisons.
const COMPARISONS: [(&str, Comparison); 6] = [
    ("!=", Comparison::NotEqual),
    ("<=", Comparison::LessOrEqual),
    (">=", Comparison::GreaterOrEqual),
    ("=", Comparison::Equal),
    ("<", Comparison::Less),
    (">", Comparison::Greater),
];

impl Parser<'_> {
    pub(super) fn expr(&mut self) -> Outcome<Expr> {
        self.deeper(Self::any_of)
    }

    fn any_of(&mut self) -> Outcome<Expr> {
        let place = self.place();
        let first = self.all_of()?;
        if !self.is_word("OR") {
            return Ok(first);
        }
        let mut all = vec![first];
        while self.eat_word("OR")? {
            all.push(self.all_of()?);
        }
        Ok(Expr::new(place, ExprKind::Or(all)))
    }

    fn all_of(&mut self) -> Outcome<Expr> {
        let place = self.place();
        let first = self.negation()?;
        if !self.is_word("AND") {
            return Ok(first);
        }
        let mut all = vec![first];
        while self.eat_word("AND")? {
            all.push(self.negation()?);
        }
        Ok(Expr::new(place, ExprKind::And(all)))
    }

    fn negation(&mut self) -> Outcome<Expr> {
        let place = self.place();
        // The word may also be the name of a column.
        if self.is_word("NOT") && !self.is_operator_behind()? {
            self.take()?;
            let inner = self.deeper(Self::negation)?;
            return Ok(Expr::new(place, ExprKind::Not(Box::new(inner))));
        }
        let condition = self.condition()?;
        if self.is_word("IS") && !self.is_word_before("OF")? {
            self.take()?;
            let is_not = self.eat_word("NOT")?;
            // `IS NOT OF TYPE` begins alike.
            if is_not && self.is_word("OF") {
                let condition = self.of_type(condition, true)?;
                return match self.eat_word("IS")? {
                    true => self.is_null(place, condition),
                    false => Ok(condition),
                };
            }
            self.expect_word("NULL")?;
            return Ok(Expr::new(place, ExprKind::IsNull(Box::new(condition), is_not)));
        }
        Ok(condition)
    }

    /// `[NOT] NULL`, after IS.
    fn is_null(&mut self, place: Place, of: Expr) -> Outcome<Expr> {
        let is_not = self.eat_word("NOT")?;
        self.expect_word("NULL")?;
        Ok(Expr::new(place, ExprKind::IsNull(Box::new(of), is_not)))
    }

    fn is_operator_behind(&mut self) -> Outcome<bool> {
        for sign in ["=", "!=", "<", ">", "<=", ">=", ".", ",", ")"] {
            if self.is_sign_before(sign)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn condition(&mut self) -> Outcome<Expr> {
        let place = self.place();
        if self.is_word("EXISTS") && !self.is_operator_behind()? {
            self.take()?;
            let of = Box::new(self.concatenation()?);
            return Ok(Expr::new(place, ExprKind::Exists(of)));
        }
        // Several operands in parentheses stand left of IN alone.
        let left = self.operand_or_tuple()?;
        if self.eat_word("IN")? {
            return self.in_list(left);
        }
        let left = match left.len() {
            1 => left.into_iter().next(),
            _ => None,
        };
        let left = left.ok_or_else(|| self.wrong("IN"))?;
        if self.eat_word("BETWEEN")? {
            let low = Box::new(self.concatenation()?);
            self.expect_word("AND")?;
            let high = Box::new(self.concatenation()?);
            return Ok(Expr::new(place, ExprKind::Between(Box::new(left), low, high)));
        }
        if self.is_word("IS") && self.is_word_before("OF")? {
            self.take()?;
            return self.of_type(left, false);
        }
        // Comparisons do not follow each other: `a < b < c` is refused by the caller.
        let Some((comparison, matching)) = self.comparison() else { return Ok(left) };
        self.take()?;
        let right = self.concatenation()?;
        Ok(Expr::new(
            place,
            ExprKind::Compared(Box::new(left), comparison, matching, Box::new(right)),
        ))
    }

    fn comparison(&self) -> Option<(Comparison, Matching)> {
        COMPARISONS.iter().find_map(|(sign, comparison)| {
            let matching = match () {
                () if self.is_sign(sign) => Matching::Value,
                () if self.is_sign(&format!("{sign}any")) => Matching::Any,
                () => return None,
            };
            Some((*comparison, matching))
        })
    }

    fn of_type(&mut self, of: Expr, is_not: bool) -> Outcome<Expr> {
        self.expect_word("OF")?;
        self.eat_word("TYPE")?;
        self.expect_sign("(")?;
        let types = self.listed(Self::quantified_type)?;
        self.expect_sign(")")?;
        let place = of.place;
        Ok(Expr::new(place, ExprKind::IsOfType(Box::new(of), types, is_not)))
    }

    /// The left side of IN: one operand, or several in parentheses.
    fn operand_or_tuple(&mut self) -> Outcome<Vec<Expr>> {
        if !self.is_sign("(") {
            return Ok(vec![self.concatenation()?]);
        }
        let place = self.place();
        self.take()?;
        let mut inner = self.listed(Self::expr)?;
        self.expect_sign(")")?;
        if inner.len() == 1
            && let Some(only) = inner.pop()
        {
            // More of the operand may follow its parentheses.
            return Ok(vec![self.concatenation_from(place, only)?]);
        }
        Ok(inner)
    }

    fn in_list(&mut self, left: Vec<Expr>) -> Outcome<Expr> {
        let place = left.first().map_or_else(|| self.place(), |first| first.place);
        if !self.is_sign("(") {
            let sequence = Box::new(self.path()?);
            return Ok(Expr::new(place, ExprKind::In(left, InList::Sequence(sequence))));
        }
        let at = self.place();
        self.take()?;
        let width = left.len();
        let tuples = self.listed(|parser| match width {
            1 => Ok(vec![parser.expr()?]),
            _ => {
                parser.expect_sign("(")?;
                let tuple = parser.listed(Self::expr)?;
                parser.expect_sign(")")?;
                Ok(tuple)
            }
        })?;
        self.expect_sign(")")?;
        // One expression in parentheses is a sequence, and a path may follow it.
        if width == 1 && tuples.len() == 1 && (self.is_sign("[") || self.is_sign(".")) {
            let base = tuples.into_iter().flatten().next();
            let base = base.ok_or_else(|| self.wrong("an expression"))?;
            let sequence = Box::new(self.path_from(at, base)?);
            return Ok(Expr::new(place, ExprKind::In(left, InList::Sequence(sequence))));
        }
        if let Some(odd) = tuples.iter().find(|tuple| tuple.len() != width) {
            let place = odd.first().map_or(at, |first| first.place);
            return Err(crate::wire::Failure::argument(format!(
                "Error: {place} an IN list of {width} values has a row of {}",
                odd.len()
            )));
        }
        // One expression may give several items, which are looked into.
        if width == 1
            && let [only] = &tuples[..]
            && let [only] = &only[..]
        {
            let sequence = Box::new(only.clone());
            return Ok(Expr::new(place, ExprKind::In(left, InList::Sequence(sequence))));
        }
        Ok(Expr::new(place, ExprKind::In(left, InList::Tuples(tuples))))
    }
}

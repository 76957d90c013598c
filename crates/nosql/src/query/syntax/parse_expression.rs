//! Operators on values in the text of a statement.

use super::parser::Parser;
use super::place::Place;
use super::tree::{ArithmeticOp, Expr, ExprKind};
use crate::wire::Outcome;

/// Reads an operand of one precedence, or continues after one that was read.
type Operand<'s> = fn(&mut Parser<'s>) -> Outcome<Expr>;

const SUMS: [(&str, ArithmeticOp); 2] = [("+", ArithmeticOp::Add), ("-", ArithmeticOp::Subtract)];
const PRODUCTS: [(&str, ArithmeticOp); 2] =
    [("*", ArithmeticOp::Multiply), ("/", ArithmeticOp::Divide)];

impl<'s> Parser<'s> {
    pub(super) fn concatenation(&mut self) -> Outcome<Expr> {
        let place = self.place();
        let first = self.sum()?;
        self.more_parts(place, first)
    }

    /// What follows an expression in parentheses.
    pub(super) fn concatenation_from(&mut self, place: Place, inner: Expr) -> Outcome<Expr> {
        let path = self.path_from(place, inner)?;
        let product = self.more_of(place, path, &PRODUCTS, Self::signed)?;
        let sum = self.more_of(place, product, &SUMS, Self::product)?;
        self.more_parts(place, sum)
    }

    pub(super) fn sum(&mut self) -> Outcome<Expr> {
        let place = self.place();
        let first = self.product()?;
        self.more_of(place, first, &SUMS, Self::product)
    }

    fn product(&mut self) -> Outcome<Expr> {
        let place = self.place();
        let first = self.signed()?;
        self.more_of(place, first, &PRODUCTS, Self::signed)
    }

    fn signed(&mut self) -> Outcome<Expr> {
        let place = self.place();
        if self.eat_sign("+")? {
            return self.deeper(Self::signed);
        }
        if self.eat_sign("-")? {
            // The smallest whole number has no positive counterpart.
            if let Some(constant) = self.number(true)? {
                return self.path_from(place, Expr::new(place, ExprKind::Constant(constant)));
            }
            let inner = self.deeper(Self::signed)?;
            return Ok(Expr::new(place, ExprKind::Negated(Box::new(inner))));
        }
        self.path()
    }

    fn more_of(
        &mut self,
        place: Place,
        first: Expr,
        signs: &[(&str, ArithmeticOp)],
        operand: Operand<'s>,
    ) -> Outcome<Expr> {
        let mut rest = Vec::new();
        while let Some(op) = self.operator(signs) {
            self.take()?;
            rest.push((op, operand(self)?));
        }
        Ok(match rest.is_empty() {
            true => first,
            false => Expr::new(place, ExprKind::Arithmetic(Box::new(first), rest)),
        })
    }

    fn operator(&self, signs: &[(&str, ArithmeticOp)]) -> Option<ArithmeticOp> {
        let is_product = signs.iter().any(|(_, op)| *op == ArithmeticOp::Divide);
        if is_product && self.is_word("DIV") {
            return Some(ArithmeticOp::RealDivide);
        }
        signs.iter().find(|(sign, _)| self.is_sign(sign)).map(|(_, op)| *op)
    }

    fn more_parts(&mut self, place: Place, first: Expr) -> Outcome<Expr> {
        if !self.is_sign("||") {
            return Ok(first);
        }
        let mut parts = vec![first];
        while self.eat_sign("||")? {
            parts.push(self.sum()?);
        }
        Ok(Expr::new(place, ExprKind::Concatenated(parts)))
    }
}

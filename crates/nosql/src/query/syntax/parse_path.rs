//! Paths and what they begin with, in the text of a statement.

use super::lexer::TokenKind;
use super::parser::Parser;
use super::place::Place;
use super::tree::{Expr, ExprKind, Side, Step, StepKind};
use crate::query::item::{Item, number_of_literal};
use crate::wire::{Failure, Outcome};

impl Parser<'_> {
    pub(super) fn path(&mut self) -> Outcome<Expr> {
        let place = self.place();
        let base = self.primary()?;
        self.path_from(place, base)
    }

    /// The steps after the beginning of a path.
    pub(super) fn path_from(&mut self, place: Place, base: Expr) -> Outcome<Expr> {
        let mut steps = Vec::new();
        loop {
            let at = self.place();
            let kind = if self.eat_sign(".")? {
                self.member_step()?
            } else if self.eat_sign("[")? {
                self.element_step()?
            } else {
                break;
            };
            steps.push(Step { place: at, kind });
        }
        Ok(match steps.is_empty() {
            true => base,
            false => Expr::new(place, ExprKind::Path(Box::new(base), steps)),
        })
    }

    fn member_step(&mut self) -> Outcome<StepKind> {
        let place = self.place();
        for (word, side) in [("KEYS", Side::Keys), ("VALUES", Side::Values)] {
            // Without parentheses they are names of fields.
            if self.is_word(word) && self.is_sign_before("(")? {
                self.take()?;
                self.take()?;
                let condition = self.condition_up_to(")")?;
                return Ok(StepKind::Members(side, condition));
            }
        }
        if let TokenKind::Text(text) = &self.token().kind {
            let text = text.clone();
            self.take()?;
            return Ok(StepKind::Field(text));
        }
        if self.eat_sign("(")? {
            let name = self.expr()?;
            self.expect_sign(")")?;
            return Ok(StepKind::ComputedField(Box::new(name)));
        }
        if let TokenKind::Variable(name) = self.token().kind {
            let variable = Expr::new(place, ExprKind::Variable(name.to_owned()));
            self.take()?;
            return Ok(StepKind::ComputedField(Box::new(variable)));
        }
        // A function gives the name.
        if self.token().kind == TokenKind::Word && self.is_sign_before("(")? {
            return Ok(StepKind::ComputedField(Box::new(self.primary()?)));
        }
        Ok(StepKind::Field(self.name()?))
    }

    fn element_step(&mut self) -> Outcome<StepKind> {
        if self.eat_sign(":")? {
            return Ok(StepKind::Slice(None, self.condition_up_to("]")?));
        }
        if self.eat_sign("]")? {
            return Ok(StepKind::Filter(None));
        }
        let first = Some(Box::new(self.expr()?));
        if self.eat_sign(":")? {
            return Ok(StepKind::Slice(first, self.condition_up_to("]")?));
        }
        self.expect_sign("]")?;
        Ok(StepKind::Filter(first))
    }

    fn condition_up_to(&mut self, end: &str) -> Outcome<Option<Box<Expr>>> {
        if self.eat_sign(end)? {
            return Ok(None);
        }
        let condition = self.expr()?;
        self.expect_sign(end)?;
        Ok(Some(Box::new(condition)))
    }

    fn primary(&mut self) -> Outcome<Expr> {
        let place = self.place();
        if let Some(number) = self.number(false)? {
            return Ok(Expr::new(place, ExprKind::Constant(number)));
        }
        let kind = match self.token().kind.clone() {
            TokenKind::Text(text) => {
                self.take()?;
                ExprKind::Constant(Item::from(text))
            }
            TokenKind::Variable(name) => {
                self.take()?;
                ExprKind::Variable(name.to_owned())
            }
            TokenKind::Word => return self.word(),
            TokenKind::Sign => match self.token().text {
                // Question marks are numbered as they come.
                "?" => {
                    self.take()?;
                    self.positional += 1;
                    ExprKind::Variable(format!("#{}", self.positional))
                }
                // Parentheses leave nothing in the tree.
                "(" => {
                    self.take()?;
                    let inner = self.expr()?;
                    self.expect_sign(")")?;
                    return Ok(inner);
                }
                "[" => {
                    self.take()?;
                    ExprKind::Array(self.up_to("]", Self::expr)?)
                }
                "{" => {
                    self.take()?;
                    ExprKind::Map(self.up_to("}", |parser| {
                        let key = parser.expr()?;
                        parser.expect_sign(":")?;
                        Ok((key, parser.expr()?))
                    })?)
                }
                _ => return Err(self.wrong("an expression")),
            },
            _ => return Err(self.wrong("an expression")),
        };
        Ok(Expr::new(place, kind))
    }

    /// A list with commas, perhaps empty, and the sign after it.
    pub(super) fn up_to<T>(
        &mut self,
        end: &str,
        read: impl FnMut(&mut Self) -> Outcome<T>,
    ) -> Outcome<Vec<T>> {
        if self.eat_sign(end)? {
            return Ok(Vec::new());
        }
        let list = self.listed(read)?;
        self.expect_sign(end)?;
        Ok(list)
    }

    /// A number, if one is here.
    pub(super) fn number(&mut self, is_negative: bool) -> Outcome<Option<Item>> {
        let kind = &self.token().kind;
        if !matches!(kind, TokenKind::Whole | TokenKind::Fraction | TokenKind::Decimal) {
            return Ok(None);
        }
        let token = self.take()?;
        let sign = if is_negative { "-" } else { "" };
        let number = number_of_literal(&format!("{sign}{}", token.text));
        let bad =
            || Failure::argument(format!("Error: {} {} is not a number", token.place, token.text));
        number.map(Some).ok_or_else(bad)
    }

    /// A word: a constant, a function, CASE, or a name.
    fn word(&mut self) -> Outcome<Expr> {
        let place = self.place();
        let word = self.token().text.to_ascii_lowercase();
        // Keywords are names unless something follows them that makes them more.
        if !self.is_sign_before("(")? {
            let constant = match word.as_str() {
                "true" => Some(Item::Boolean(true)),
                "false" => Some(Item::Boolean(false)),
                "null" => Some(Item::JsonNull),
                _ => None,
            };
            if word == "case" && self.is_word_before("WHEN")? {
                return self.case();
            }
            let name = self.name()?;
            let kind = constant.map_or(ExprKind::Name(name), ExprKind::Constant);
            return Ok(Expr::new(place, kind));
        }
        self.take()?;
        self.take()?;
        // These have words inside their parentheses; all others have expressions alone.
        let kind = match word.as_str() {
            "cast" => {
                let of = Box::new(self.expr()?);
                self.expect_word("AS")?;
                let to = self.quantified_type()?;
                self.expect_sign(")")?;
                ExprKind::Cast(of, to)
            }
            "extract" => {
                let unit = self.name()?.to_ascii_lowercase();
                self.expect_word("FROM")?;
                let of = Box::new(self.expr()?);
                self.expect_sign(")")?;
                ExprKind::Extract(unit, of)
            }
            "count" if self.eat_sign("*")? => {
                self.expect_sign(")")?;
                ExprKind::CountRows
            }
            "count" if self.eat_word("DISTINCT")? => {
                let of = Box::new(self.expr()?);
                self.expect_sign(")")?;
                ExprKind::CountDistinct(of)
            }
            "array_collect" => {
                let is_distinct = self.eat_word("DISTINCT")?;
                let of = Box::new(self.expr()?);
                self.expect_sign(")")?;
                ExprKind::Collect(of, is_distinct)
            }
            "seq_transform" => {
                let input = Box::new(self.expr()?);
                self.expect_sign(",")?;
                let mapper = Box::new(self.expr()?);
                self.expect_sign(")")?;
                ExprKind::Transform(input, mapper)
            }
            _ => ExprKind::Call(word, self.up_to(")", Self::expr)?),
        };
        Ok(Expr::new(place, kind))
    }

    fn case(&mut self) -> Outcome<Expr> {
        let place = self.place();
        self.take()?;
        let mut branches = Vec::new();
        while self.eat_word("WHEN")? {
            let when = self.expr()?;
            self.expect_word("THEN")?;
            branches.push((when, self.expr()?));
        }
        let otherwise = match self.eat_word("ELSE")? {
            true => Some(Box::new(self.expr()?)),
            false => None,
        };
        self.expect_word("END")?;
        Ok(Expr::new(place, ExprKind::Case(branches, otherwise)))
    }
}

//! Types in the text of a statement.

use super::lexer::TokenKind;
use super::parser::Parser;
use super::type_def::{Quantifier, TypeDef, TypeKind};
use crate::wire::Outcome;

/// Types that are one word.
const SIMPLE: [(&str, TypeKind); 12] = [
    ("ANY", TypeKind::Any),
    ("ANYATOMIC", TypeKind::AnyAtomic),
    ("ANYJSONATOMIC", TypeKind::AnyJsonAtomic),
    ("ANYRECORD", TypeKind::AnyRecord),
    ("JSON", TypeKind::Json),
    ("INTEGER", TypeKind::Integer),
    ("LONG", TypeKind::Long),
    ("FLOAT", TypeKind::Float),
    ("DOUBLE", TypeKind::Double),
    ("NUMBER", TypeKind::Number),
    ("STRING", TypeKind::String),
    ("BOOLEAN", TypeKind::Boolean),
];

impl Parser<'_> {
    /// A type with how many items of it there may be.
    pub(super) fn quantified_type(&mut self) -> Outcome<TypeDef> {
        let is_only = self.eat_word("ONLY")?;
        let kind = self.type_kind()?;
        let quantifier = if self.eat_sign("?")? {
            Quantifier::Optional
        } else if self.eat_sign("*")? {
            Quantifier::Many
        } else if self.eat_sign("+")? {
            Quantifier::Some
        } else {
            Quantifier::One
        };
        Ok(TypeDef { kind, quantifier, is_only })
    }

    pub(super) fn type_kind(&mut self) -> Outcome<TypeKind> {
        self.deeper(|parser| {
            if let Some((_, kind)) = SIMPLE.iter().find(|(word, _)| parser.is_word(word)) {
                parser.take()?;
                return Ok(kind.clone());
            }
            if parser.eat_word("BINARY")? {
                return Ok(TypeKind::Binary(parser.size()?));
            }
            if parser.eat_word("TIMESTAMP")? {
                return Ok(TypeKind::Timestamp(parser.size()?.map(|digits: u8| digits.min(9))));
            }
            parser.nested_type()
        })
    }

    /// Types that hold others.
    fn nested_type(&mut self) -> Outcome<TypeKind> {
        let word = self.token().text.to_ascii_uppercase();
        let is_known = ["ARRAY", "MAP", "RECORD", "ENUM"].contains(&word.as_str());
        if !is_known || self.token().kind != TokenKind::Word {
            return Err(self.wrong("a type"));
        }
        self.take()?;
        self.expect_sign("(")?;
        let kind = match word.as_str() {
            "ARRAY" => TypeKind::Array(Box::new(self.type_kind()?)),
            "MAP" => TypeKind::Map(Box::new(self.type_kind()?)),
            "ENUM" => TypeKind::Enum(self.listed(Self::name)?),
            _ => TypeKind::Record(self.listed(|parser| Ok((parser.name()?, parser.type_kind()?)))?),
        };
        self.expect_sign(")")?;
        Ok(kind)
    }

    fn size<N: std::str::FromStr>(&mut self) -> Outcome<Option<N>> {
        if !self.eat_sign("(")? {
            return Ok(None);
        }
        let size = self.whole()?;
        self.expect_sign(")")?;
        Ok(Some(size))
    }
}

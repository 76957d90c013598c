//! INSERT, UPSERT, UPDATE and DELETE in the text of a statement.

use super::parser::Parser;
use super::statement::{
    Change, Delete, Insert, InsertValue, SelectList, TtlUnit, TtlValue, Update,
};
use super::tree::Expr;
use crate::wire::Outcome;

impl Parser<'_> {
    pub(super) fn insert(&mut self) -> Outcome<Insert> {
        let place = self.place();
        let replaces = self.eat_word("UPSERT")?;
        if !replaces {
            self.expect_word("INSERT")?;
        }
        self.expect_word("INTO")?;
        let table = self.table_name()?;
        // Without names all columns are meant.
        let columns = match self.eat_sign("(")? {
            true => Some(self.up_to(")", Self::column_label)?),
            false => None,
        };
        self.expect_word("VALUES")?;
        self.expect_sign("(")?;
        let values = self.up_to(")", |parser| {
            // The word may also begin an expression.
            let is_default = parser.is_word("DEFAULT")
                && (parser.is_sign_before(",")? || parser.is_sign_before(")")?);
            if is_default {
                parser.take()?;
                return Ok(InsertValue::Default);
            }
            Ok(InsertValue::Value(parser.expr()?))
        })?;
        let ttl = match self.eat_word("SET")? {
            true => {
                self.expect_word("TTL")?;
                Some(self.ttl()?)
            }
            false => None,
        };
        let returning = self.returning()?;
        Ok(Insert { place, replaces, table, columns, values, ttl, returning })
    }

    fn column_label(&mut self) -> Outcome<String> {
        if let super::lexer::TokenKind::Text(text) = &self.token().kind {
            let text = text.clone();
            self.take()?;
            return Ok(text);
        }
        self.name()
    }

    pub(super) fn update(&mut self) -> Outcome<Update> {
        self.expect_word("UPDATE")?;
        let table = self.table_name()?;
        let (mut changes, mut ttl) = (Vec::new(), None);
        self.changes(&mut changes, &mut ttl)?;
        self.expect_word("WHERE")?;
        let filter = self.expr()?;
        let returning = self.returning()?;
        Ok(Update { table, changes, ttl, filter, returning })
    }

    /// Changes with commas between. One without a word of its own is of the kind of the one before.
    fn changes(&mut self, changes: &mut Vec<Change>, ttl: &mut Option<TtlValue>) -> Outcome<()> {
        let mut word = String::new();
        loop {
            if let Some(begun) = self.change_word()? {
                word = begun;
            }
            // A word holds for all changes up to the next one.
            match word.as_str() {
                "SET" => {
                    let target = self.path()?;
                    self.expect_sign("=")?;
                    changes.push(Change::Set(target, self.expr()?));
                }
                "TTL" => *ttl = Some(self.ttl()?),
                "ADD" => changes.push(self.addition()?),
                "PUT" => {
                    self.eat_word("INTO")?;
                    let target = self.path()?;
                    self.eat_word("FIELDS")?;
                    changes.push(Change::Put(target, self.expr()?));
                }
                "REMOVE" => changes.push(Change::Remove(self.path()?)),
                "JSON" => {
                    let target = self.path()?;
                    self.expect_word("WITH")?;
                    self.expect_word("PATCH")?;
                    changes.push(Change::Merge(target, self.expr()?));
                }
                _ => return Err(self.wrong("SET, ADD, PUT, REMOVE or JSON MERGE")),
            }
            // Commas lie between changes of one kind and between kinds alike.
            if !self.eat_sign(",")? {
                return Ok(());
            }
        }
    }

    /// The word that a change begins with, if one is here.
    fn change_word(&mut self) -> Outcome<Option<String>> {
        // The words may also be names of columns.
        let is_target = self.is_sign_before(".")? || self.is_sign_before("=")?;
        if is_target {
            return Ok(None);
        }
        for word in ["SET", "ADD", "PUT", "REMOVE"] {
            if self.eat_word(word)? {
                let is_ttl = word == "SET" && self.is_word("TTL") && !self.is_sign_before("=")?;
                if is_ttl {
                    self.take()?;
                    return Ok(Some("TTL".to_owned()));
                }
                return Ok(Some(word.to_owned()));
            }
        }
        if self.is_word("JSON") && self.is_word_before("MERGE")? {
            self.take()?;
            self.take()?;
            return Ok(Some("JSON".to_owned()));
        }
        Ok(None)
    }

    /// `ADD [INTO] target [[@]position] [ELEMENTS] elements`.
    fn addition(&mut self) -> Outcome<Change> {
        self.eat_word("INTO")?;
        let target = self.path()?;
        let has_sign = self.eat_sign("@")?;
        if self.eat_word("ELEMENTS")? {
            return Ok(Change::Add(target, None, self.expr()?));
        }
        let first = self.sum()?;
        let ends = self.is_sign(",") || self.is_word("WHERE") || self.begins_change();
        match ends && !has_sign {
            true => Ok(Change::Add(target, None, first)),
            false => {
                self.eat_word("ELEMENTS")?;
                Ok(Change::Add(target, Some(first), self.expr()?))
            }
        }
    }

    fn begins_change(&self) -> bool {
        ["SET", "ADD", "PUT", "REMOVE", "JSON"].iter().any(|word| self.is_word(word))
    }

    fn ttl(&mut self) -> Outcome<TtlValue> {
        if self.eat_word("USING")? {
            self.expect_word("TABLE")?;
            self.expect_word("DEFAULT")?;
            return Ok(TtlValue::TableDefault);
        }
        let number: Expr = self.sum()?;
        for (word, unit) in [
            ("HOURS", TtlUnit::Hours),
            ("H", TtlUnit::Hours),
            ("DAYS", TtlUnit::Days),
            ("D", TtlUnit::Days),
        ] {
            if self.eat_word(word)? {
                return Ok(TtlValue::Of(number, unit));
            }
        }
        Err(self.wrong("HOURS or DAYS"))
    }

    pub(super) fn delete(&mut self) -> Outcome<Delete> {
        self.expect_word("DELETE")?;
        self.expect_word("FROM")?;
        let table = self.table_name()?;
        let filter = if self.eat_word("WHERE")? { Some(self.expr()?) } else { None };
        let returning = self.returning()?;
        Ok(Delete { table, filter, returning })
    }

    fn returning(&mut self) -> Outcome<Option<SelectList>> {
        if self.eat_word("RETURNING")? { self.select_list().map(Some) } else { Ok(None) }
    }
}

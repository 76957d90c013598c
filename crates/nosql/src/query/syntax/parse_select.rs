//! SELECT in the text of a statement.

use super::lexer::TokenKind;
use super::parser::Parser;
use super::statement::{Limits, Select, SelectItem, SelectList, SortKey, TableName};
use crate::wire::Outcome;

/// Words that continue after a table, and so are not a name of it.
const BEHIND_TABLE: [&str; 18] = [
    "WHERE",
    "GROUP",
    "ORDER",
    "LIMIT",
    "OFFSET",
    "ON",
    "LEFT",
    "INNER",
    "JOIN",
    "ANCESTORS",
    "DESCENDANTS",
    "RETURNING",
    "SET",
    "ADD",
    "PUT",
    "REMOVE",
    "JSON",
    "VALUES",
];

impl Parser<'_> {
    pub(super) fn select(&mut self) -> Outcome<Select> {
        self.expect_word("SELECT")?;
        let list = self.select_list()?;
        self.expect_word("FROM")?;
        // NESTED TABLES leaves its target as the table, and the others as parts of FROM.
        let mut from = Vec::new();
        let table = self.joined_tables(&mut from)?;
        while self.eat_sign(",")? {
            self.read_from_part(&table, &mut from)?;
        }
        let filter = match self.is_word("WHERE") {
            // A lone WHERE at the end is a name of the table to the language.
            true => {
                self.take()?;
                if self.token().kind == TokenKind::End { None } else { Some(self.expr()?) }
            }
            false => None,
        };
        let groups = match self.eat_word("GROUP")? {
            true => {
                self.expect_word("BY")?;
                self.listed(Self::expr)?
            }
            false => Vec::new(),
        };
        let order = match self.eat_word("ORDER")? {
            true => {
                self.expect_word("BY")?;
                self.listed(Self::sort_key)?
            }
            false => Vec::new(),
        };
        let limits = self.limits()?;
        Ok(Select { list, table, from, filter, groups, order, limits })
    }

    pub(super) fn select_list(&mut self) -> Outcome<SelectList> {
        // Which index is taken is no matter of the statement here.
        while self.token().kind == TokenKind::Hint {
            self.take()?;
        }
        let place = self.place();
        let is_distinct = self.is_word("DISTINCT")
            && !self.is_sign_before(",")?
            && !self.is_word_before("FROM")?;
        if is_distinct {
            self.take()?;
        }
        let items = match self.eat_sign("*")? {
            true => None,
            false => Some(self.listed(|parser| {
                let expr = parser.expr()?;
                let alias = if parser.eat_word("AS")? { Some(parser.name()?) } else { None };
                Ok(SelectItem { expr, alias })
            })?),
        };
        Ok(SelectList { place, is_distinct, items })
    }

    /// A table, and the name that the statement gives to it.
    pub(super) fn table_name(&mut self) -> Outcome<TableName> {
        let place = self.place();
        let mut name = self.name()?;
        while self.is_sign(".") || self.is_sign(":") {
            name.push_str(self.take()?.text);
            name.push_str(&self.name()?);
        }
        let has_as = self.eat_word("AS")?;
        let alias = match self.token().kind {
            TokenKind::Variable(alias) => Some(alias.to_owned()),
            TokenKind::Word if has_as || !self.is_behind_table()? => {
                Some(self.token().text.to_owned())
            }
            _ => None,
        };
        if alias.is_some() {
            let is_literal = ["TRUE", "FALSE", "NULL"].iter().any(|word| self.is_word(word));
            if is_literal || alias.as_ref().is_some_and(|alias| alias.starts_with('_')) {
                return Err(self.wrong("the alias of a table"));
            }
            self.take()?;
        }
        Ok(TableName { place, name, alias })
    }

    fn is_behind_table(&self) -> Outcome<bool> {
        Ok(BEHIND_TABLE.iter().any(|word| self.is_word(word)))
    }

    pub(super) fn read_from_variable(&mut self) -> Outcome<String> {
        self.eat_word("AS")?;
        match self.token().kind {
            TokenKind::Variable(name) if !name.is_empty() => {
                self.take()?;
                Ok(name.to_owned())
            }
            _ => Err(self.wrong("a variable")),
        }
    }

    fn sort_key(&mut self) -> Outcome<SortKey> {
        let expr = self.expr()?;
        let is_descending = !self.eat_word("ASC")? && self.eat_word("DESC")?;
        let nulls_first = match self.eat_word("NULLS")? {
            true if self.eat_word("FIRST")? => Some(true),
            true => {
                self.expect_word("LAST")?;
                Some(false)
            }
            false => None,
        };
        Ok(SortKey { expr, is_descending, nulls_first })
    }

    fn limits(&mut self) -> Outcome<Limits> {
        let mut limits = Limits::default();
        if self.eat_word("LIMIT")? {
            limits.limit = Some(self.sum()?);
        }
        if self.eat_word("OFFSET")? {
            limits.offset = Some(self.sum()?);
        }
        Ok(limits)
    }
}

//! Further tables in FROM: after a comma, LEFT OUTER JOIN, and NESTED TABLES.

use super::lexer::TokenKind;
use super::parser::Parser;
use super::statement::{FromItem, FromPart, JoinedTable, TableName};
use crate::wire::Outcome;

impl Parser<'_> {
    /// A table with those that are joined to it.
    pub(super) fn joined_tables(&mut self, from: &mut Vec<FromPart>) -> Outcome<TableName> {
        let table = match self.is_word("NESTED") && self.is_word_before("TABLES")? {
            true => self.nested_tables(from)?,
            false => self.table_name()?,
        };
        while self.is_word("LEFT") {
            self.take()?;
            self.eat_word("OUTER")?;
            self.expect_word("JOIN")?;
            let table = self.table_name()?;
            self.expect_word("ON")?;
            let on = Some(self.expr()?);
            from.push(FromPart::Outer(JoinedTable { table, on }));
        }
        Ok(table)
    }

    fn nested_tables(&mut self, from: &mut Vec<FromPart>) -> Outcome<TableName> {
        self.expect_word("NESTED")?;
        self.expect_word("TABLES")?;
        self.expect_sign("(")?;
        let target = self.table_name()?;
        let relatives = |parser: &mut Self, word: &str| match parser.eat_word(word)? {
            true => {
                parser.expect_sign("(")?;
                parser.up_to(")", Self::relative)
            }
            false => Ok(Vec::new()),
        };
        let ancestors = relatives(self, "ANCESTORS")?;
        let descendants = relatives(self, "DESCENDANTS")?;
        self.expect_sign(")")?;
        from.push(FromPart::Nested { ancestors, descendants });
        Ok(target)
    }

    fn relative(&mut self) -> Outcome<JoinedTable> {
        let table = self.table_name()?;
        let on = if self.eat_word("ON")? { Some(self.expr()?) } else { None };
        Ok(JoinedTable { table, on })
    }

    /// What follows a comma in FROM: items of a row, or another table.
    pub(super) fn read_from_part(
        &mut self,
        base: &TableName,
        from: &mut Vec<FromPart>,
    ) -> Outcome<()> {
        // Items begin with the name of a table before them.
        let known: Vec<String> = std::iter::once(base)
            .chain(from.iter().flat_map(FromPart::tables))
            .map(|table| table.shown().to_owned())
            .collect();
        let known = &known[..];
        if self.is_word("UNNEST") && self.is_sign_before("(")? {
            self.take()?;
            self.take()?;
            let items = self.up_to(")", |parser| {
                let expr = parser.path()?;
                Ok(FromItem { expr, variable: parser.read_from_variable()?, is_unnest: true })
            })?;
            from.extend(items.into_iter().map(FromPart::Items));
            return Ok(());
        }
        if self.is_table_ahead(known)? {
            // Before those that are joined to it, which are read first.
            let place = from.len();
            let table = self.joined_tables(from)?;
            from.insert(place, FromPart::Inner(table));
            return Ok(());
        }
        let expr = self.expr()?;
        let variable = self.read_from_variable()?;
        from.push(FromPart::Items(FromItem { expr, variable, is_unnest: false }));
        Ok(())
    }

    /// Whether a table comes next, and not a path or a call that gives items. A path begins with the
    /// name of a table before, and has a variable after it.
    fn is_table_ahead(&self, known: &[String]) -> Outcome<bool> {
        let mut ahead = self.clone();
        if ahead.token().kind != TokenKind::Word {
            return Ok(false);
        }
        if ahead.is_word("NESTED") && ahead.is_word_before("TABLES")? {
            return Ok(true);
        }
        let first = ahead.name()?;
        while ahead.is_sign(".") || ahead.is_sign(":") {
            ahead.take()?;
            if ahead.token().kind != TokenKind::Word {
                return Ok(false);
            }
            ahead.take()?;
        }
        ahead.eat_word("AS")?;
        Ok(match ahead.token().kind {
            TokenKind::Variable(_) => !known.iter().any(|name| name.eq_ignore_ascii_case(&first)),
            _ => !(ahead.is_sign("(") || ahead.is_sign("[") || ahead.is_sign(".")),
        })
    }
}

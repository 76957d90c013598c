//! Whole statements.

use super::lexer::TokenKind;
use super::parser::Parser;
use super::statement::{Query, Statement, VariableDeclaration};
use crate::wire::{Failure, Outcome};

/// What statements begin with.
const BEGINNINGS: &str = "{ALTER, CREATE, DECLARE, DELETE, DESC, DESCRIBE, DROP, GRANT, INSERT, \
                          REVOKE, SELECT, SET, SHOW, UPDATE, UPSERT}";

/// The variables that steps of paths bring along.
const STEP_NAMES: [&str; 4] = ["key", "value", "element", "pos"];

/// Reads a statement that asks for rows or changes them.
///
/// # Errors
/// What is wrong with it, and where.
pub(crate) fn parse_statement(text: &str) -> Outcome<Query> {
    let mut parser = Parser::new(text)?;
    let variables = parser.declarations()?;
    let statement = if parser.is_word("SELECT") {
        Statement::Select(Box::new(parser.select()?))
    } else if parser.is_word("INSERT") || parser.is_word("UPSERT") {
        Statement::Insert(Box::new(parser.insert()?))
    } else if parser.is_word("UPDATE") {
        Statement::Update(Box::new(parser.update()?))
    } else if parser.is_word("DELETE") {
        Statement::Delete(Box::new(parser.delete()?))
    } else {
        return Err(parser.wrong(BEGINNINGS));
    };
    match parser.token().kind {
        TokenKind::End => Ok(Query { variables, positional: parser.positional, statement }),
        _ => Err(parser.wrong("the end of the statement")),
    }
}

impl Parser<'_> {
    fn declarations(&mut self) -> Outcome<Vec<VariableDeclaration>> {
        let mut declared: Vec<VariableDeclaration> = Vec::new();
        if !self.eat_word("DECLARE")? {
            return Ok(declared);
        }
        while let TokenKind::Variable(name) = self.token().kind {
            let place = self.place();
            self.take()?;
            let kind = self.type_kind()?;
            self.expect_sign(";")?;
            // Steps of paths give these names to what they look at.
            if STEP_NAMES.contains(&name) {
                return Err(Failure::argument(format!(
                    "Error: {place} ${name} is a name of steps of paths: choose another one"
                )));
            }
            if declared.iter().any(|other| other.name[1..] == *name) {
                return Err(Failure::argument(format!(
                    "Error: {place} Variable ${name} is declared twice"
                )));
            }
            declared.push(VariableDeclaration { name: format!("${name}"), kind });
        }
        if declared.is_empty() { Err(self.wrong("a variable")) } else { Ok(declared) }
    }
}

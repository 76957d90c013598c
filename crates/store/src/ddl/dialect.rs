//! The sqlparser dialect of definitions: words and quotes as in the generic dialect. But `/*! */`
//! is a comment, which the generic dialect reads as part of the statement.

use std::any::TypeId;

use sqlparser::dialect::{Dialect, GenericDialect};

static GENERIC: GenericDialect = GenericDialect {};

/// How definitions are cut into tokens.
#[derive(Debug)]
pub(super) struct DefinitionDialect;

impl Dialect for DefinitionDialect {
    fn dialect(&self) -> TypeId {
        GENERIC.dialect()
    }

    fn is_delimited_identifier_start(&self, letter: char) -> bool {
        GENERIC.is_delimited_identifier_start(letter)
    }

    fn is_identifier_start(&self, letter: char) -> bool {
        GENERIC.is_identifier_start(letter)
    }

    fn is_identifier_part(&self, letter: char) -> bool {
        GENERIC.is_identifier_part(letter)
    }

    fn supports_unicode_string_literal(&self) -> bool {
        GENERIC.supports_unicode_string_literal()
    }

    fn supports_nested_comments(&self) -> bool {
        GENERIC.supports_nested_comments()
    }

    fn supports_string_escape_constant(&self) -> bool {
        GENERIC.supports_string_escape_constant()
    }

    fn supports_quote_delimited_string(&self) -> bool {
        GENERIC.supports_quote_delimited_string()
    }
}

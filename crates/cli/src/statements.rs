//! Splits a text into statements.

use tonnage_sql::{SqlTokenKind, SqlTokens};

/// The statements of a text, without their semicolons.
pub(crate) fn statements(text: &str) -> Vec<&str> {
    let tokens = SqlTokens::read(text);
    let said = tokens.tokens().iter().filter(|token| token.kind != SqlTokenKind::Comment);
    let said: Vec<_> = said.collect();
    said.split(|token| token.kind == SqlTokenKind::End)
        .filter_map(|statement| {
            let (first, last) = (statement.first()?, statement.last()?);
            Some(&text[first.range.start..last.range.end])
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::statements;

    #[test]
    fn statements_are_parted_by_semicolons_outside_quotes_and_comments() {
        let text = "SELECT ';' FROM a; -- one; two\n;  UPDATE a SET b = 1 ;";
        assert_eq!(statements(text), ["SELECT ';' FROM a", "UPDATE a SET b = 1"]);
    }
}

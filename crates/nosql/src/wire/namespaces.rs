//! Namespaces, and the statements that create and drop them.

use tonnage::Table;

use super::call::Call;
use super::failure::{Failure, FailureCode, Outcome};
use super::table_names::{SYSTEM_DEFAULT, is_default, is_within};

/// Whether there is a namespace.
pub(super) fn exists(call: &Call<'_>, namespace: &str) -> Outcome<bool> {
    let names = call.store.namespaces()?;
    Ok(is_default(namespace) || names.iter().any(|own| own.eq_ignore_ascii_case(namespace)))
}

/// The namespaces that the caller may know of, in order: those without tables, and those with a
/// table that it may know of.
pub(super) fn shown(call: &Call<'_>) -> Outcome<Vec<String>> {
    let mut names = call.store.namespaces()?;
    let tables = call.store.tables();
    names.retain(|name| {
        let mut own =
            tables.iter().map(Table::path).filter(|path| is_within(path, name)).peekable();
        own.peek().is_none() || own.any(|path| call.access.may_see(path))
    });
    names.push(SYSTEM_DEFAULT.to_owned());
    names.sort();
    Ok(names)
}

/// What a statement about a namespace says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NamespaceStatement<'s> {
    Create { name: &'s str, if_not_exists: bool },
    Drop { name: &'s str, if_exists: bool, cascades: bool },
}

/// The statement that these words are, in capitals beside as they were written.
pub(super) fn statement_of<'s>(
    capitals: &[&str],
    words: &[&'s str],
) -> Option<NamespaceStatement<'s>> {
    // Names are taken as they were written, keywords in capitals.
    let last = words.len().checked_sub(1)?;
    Some(match capitals {
        ["CREATE", "NAMESPACE", _] => {
            NamespaceStatement::Create { name: words[last], if_not_exists: false }
        }
        ["CREATE", "NAMESPACE", "IF", "NOT", "EXISTS", _] => {
            NamespaceStatement::Create { name: words[last], if_not_exists: true }
        }
        ["DROP", "NAMESPACE", rest @ ..] => {
            let (if_exists, rest) = match rest {
                ["IF", "EXISTS", rest @ ..] => (true, rest),
                rest => (false, rest),
            };
            let name = *words.get(words.len() - rest.len())?;
            // What follows is no such statement.
            let cascades = match rest {
                [_] => false,
                [_, "CASCADE"] => true,
                _ => return None,
            };
            NamespaceStatement::Drop { name, if_exists, cascades }
        }
        _ => return None,
    })
}

/// Carries out a statement. It needs the right to create or drop tables there.
pub(super) fn carry_out(call: &Call<'_>, statement: NamespaceStatement<'_>) -> Outcome<()> {
    match statement {
        NamespaceStatement::Create { name, if_not_exists } => create(call, name, if_not_exists),
        NamespaceStatement::Drop { name, if_exists, cascades } => {
            drop_namespace(call, name, if_exists, cascades)
        }
    }
}

fn create(call: &Call<'_>, name: &str, if_not_exists: bool) -> Outcome<()> {
    check_name(name)?;
    call.access.check_definition(&format!("CREATE TABLE \"{name}:t\" (k LONG PRIMARY KEY)"))?;
    let is_new = !is_default(name) && call.store.create_namespace(name)?;
    match is_new || if_not_exists {
        true => Ok(()),
        false => {
            let message = format!(
                "Error: User error in query: CREATE NAMESPACE failed for namespace '{name}': \
                 Namespace '{name}' already exists"
            );
            Err(Failure::new(FailureCode::ResourceExists, message))
        }
    }
}

fn drop_namespace(call: &Call<'_>, name: &str, if_exists: bool, cascades: bool) -> Outcome<()> {
    check_name(name)?;
    // Rights come before the look: whether a namespace exists is not for everyone to know.
    call.access.check_definition(&format!("DROP TABLE \"{name}:t\""))?;
    let failed = |code, why: &str| {
        let message = format!(
            "Error: User error in query: DROP NAMESPACE failed for namespace '{name}': {why}"
        );
        Failure::new(code, message)
    };
    if is_default(name) {
        let why = format!("Namespace '{name}' cannot be removed because it is the default one.");
        return Err(failed(FailureCode::IllegalArgument, &why));
    }
    if !exists(call, name)? {
        let why = format!("Namespace '{name}' does not exist.");
        return if if_exists { Ok(()) } else { Err(failed(FailureCode::ResourceNotFound, &why)) };
    }
    let tables = call.store.tables();
    let mut paths: Vec<&str> =
        tables.iter().map(Table::path).filter(|path| is_within(path, name)).collect();
    if !paths.is_empty() && !cascades {
        let why = format!(
            "Failed to remove namespace: '{name}': Namespace '{name}' cannot be removed because \
             it is not empty. Remove all tables contained in this namespace or use CASCADE option."
        );
        let failure = failed(FailureCode::IllegalArgument, &why);
        return Err(Failure::argument(failure.message));
    }
    // All rights are asked for before the first table is dropped. Children come before their parents.
    paths.sort_by_key(|path| std::cmp::Reverse(path.len()));
    let statements: Vec<String> = paths.iter().map(|path| drop_statement(path)).collect();
    statements.iter().try_for_each(|statement| call.access.check_definition(statement))?;
    for statement in &statements {
        call.store.execute(statement)?;
    }
    call.store.drop_namespace(name)?;
    Ok(())
}

fn drop_statement(path: &str) -> String {
    let parts: Vec<String> =
        path.split('.').map(|part| format!("\"{}\"", part.replace('"', "\"\""))).collect();
    format!("DROP TABLE IF EXISTS {}", parts.join("."))
}

/// Refuses names that would have to be quoted.
fn check_name(name: &str) -> Outcome<()> {
    let is_plain = name.chars().next().is_some_and(char::is_alphabetic)
        && name.chars().all(|char| char.is_alphanumeric() || char == '_');
    match is_plain {
        true => Ok(()),
        false => Err(Failure::argument(format!(
            "Error: the name of a namespace is a letter, then letters, digits and underscores, \
             not {name}"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_known_by_their_words() {
        for (text, expected) in [
            (
                "create namespace Ns",
                Some(NamespaceStatement::Create { name: "Ns", if_not_exists: false }),
            ),
            (
                "create namespace if not exists a",
                Some(NamespaceStatement::Create { name: "a", if_not_exists: true }),
            ),
            (
                "drop namespace a",
                Some(NamespaceStatement::Drop { name: "a", if_exists: false, cascades: false }),
            ),
            (
                "drop namespace if exists a cascade",
                Some(NamespaceStatement::Drop { name: "a", if_exists: true, cascades: true }),
            ),
            ("drop namespace", None),
            ("drop namespace a b", None),
            ("create namespace", None),
            ("create table t", None),
        ] {
            let capitals = text.to_ascii_uppercase();
            let capitals: Vec<&str> = capitals.split(' ').collect();
            let words: Vec<&str> = text.split(' ').collect();
            assert_eq!(statement_of(&capitals, &words), expected, "{text}");
        }
    }
}

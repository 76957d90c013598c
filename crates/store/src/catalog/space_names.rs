//! The names of the spaces of tables and indexes.
//!
//! ```text
//! table:phones                 index:phones.images.by_size
//! table:phones~2               the same name once more, while somebody else has it
//! ```
//!
//! A table that replaced another one keeps its original space, so the name says under which table a
//! space was created, not which table owns it.

/// What the names of the spaces of tables begin with.
pub(super) const TABLE_PREFIX: &str = "table:";
/// What the names of the spaces of indexes begin with.
pub(super) const INDEX_PREFIX: &str = "index:";

/// The text after the prefix, if the space is one of a table or an index.
fn made_for(name: &str) -> Option<&str> {
    [TABLE_PREFIX, INDEX_PREFIX].iter().find_map(|prefix| name.strip_prefix(prefix))
}

/// Whether a space is one of a table or an index.
pub(super) fn is_of_table(name: &str) -> bool {
    made_for(name).is_some()
}

/// The top-level tables for which a space of this name may have been created.
pub(super) fn roots(name: &str) -> impl Iterator<Item = &str> {
    let root = made_for(name).and_then(|path| path.split('.').next());
    let plain = root.and_then(|root| root.rsplit_once('~')).map(|(plain, _)| plain);
    root.into_iter().chain(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_the_tables_that_its_space_may_have_been_made_for() {
        let of = |name| roots(name).collect::<Vec<_>>();
        assert_eq!(of("table:phones"), ["phones"]);
        assert_eq!(of("table:phones~2"), ["phones~2", "phones"]);
        assert_eq!(of("index:phones.images.by_size~3"), ["phones"]);
        assert!(of("pairs").is_empty() && !is_of_table("pairs") && is_of_table("index:a.b"));
    }
}

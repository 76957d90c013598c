//! Names of tables: `sales:orders` is the table `orders` of the namespace `sales`.
//!
//! The store has one list of tables, with such names. A request may have a default namespace, for
//! tables that it names without one.

use std::borrow::Cow;

/// The namespace of tables whose names have none.
pub(super) const SYSTEM_DEFAULT: &str = "sysdefault";

/// The path in the store of a table as a request names it.
pub(super) fn table_path<'n>(name: &'n str, default: Option<&str>) -> Cow<'n, str> {
    match (name.split_once(':'), default) {
        (Some((namespace, path)), _) if is_default(namespace) => Cow::Borrowed(path),
        (None, Some(namespace)) if !is_default(namespace) => {
            Cow::Owned(format!("{namespace}:{name}"))
        }
        _ => Cow::Borrowed(name),
    }
}

/// The namespace of a path, if it has one, and the rest.
pub(super) fn parts_of_path(path: &str) -> (Option<&str>, &str) {
    match path.split_once(':') {
        Some((namespace, rest)) => (Some(namespace), rest),
        None => (None, path),
    }
}

pub(super) fn is_default(namespace: &str) -> bool {
    namespace.is_empty() || namespace.eq_ignore_ascii_case(SYSTEM_DEFAULT)
}

/// Whether a path is that of a table in a namespace; none or the default one is for all without.
pub(super) fn is_within(path: &str, namespace: &str) -> bool {
    match parts_of_path(path).0 {
        Some(own) => own.eq_ignore_ascii_case(namespace),
        None => is_default(namespace),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_to_paths() {
        for (name, default, path) in [
            ("t", None, "t"),
            ("t.kid", Some("ns"), "ns:t.kid"),
            ("other:t", Some("ns"), "other:t"),
            ("SysDefault:t", Some("ns"), "t"),
            ("t", Some("sysdefault"), "t"),
            ("t", Some(""), "t"),
        ] {
            assert_eq!(table_path(name, default), path, "{name} {default:?}");
        }
    }
}

//! Makes names of columns distinct: `k`, `k_1`.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::datatypes::{Field, Schema, SchemaRef};

/// The names, the later ones of those that are alike with numbers. Names of one key are alike.
pub(crate) fn distinct_names(names: &[String], key: fn(&str) -> String) -> Vec<String> {
    let mut taken: HashSet<String> = names.iter().map(|name| key(name)).collect();
    let mut seen = HashSet::new();
    let named = |name: &String| {
        if seen.insert(key(name)) {
            return name.clone();
        }
        let mut numbered = (1..).map(|number| format!("{name}_{number}"));
        numbered.find(|other| taken.insert(key(other))).unwrap_or_default()
    };
    names.iter().map(named).collect()
}

/// A schema with such names, without regard to case.
pub(crate) fn with_distinct_names(schema: &SchemaRef) -> SchemaRef {
    let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
    let distinct = distinct_names(&names, str::to_ascii_lowercase);
    if distinct == names {
        return schema.clone();
    }
    let fields = schema.fields().iter().zip(distinct);
    let fields: Vec<Field> =
        fields.map(|(field, name)| field.as_ref().clone().with_name(name)).collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

#[cfg(test)]
mod tests {
    use super::distinct_names;

    #[test]
    fn later_twins_get_numbers_that_are_free() {
        let named = |names: &[&str], key: fn(&str) -> String| {
            let names: Vec<String> = names.iter().map(ToString::to_string).collect();
            distinct_names(&names, key)
        };
        let by_case = str::to_owned;
        assert_eq!(named(&["k", "x", "k", "K"], by_case), ["k", "x", "k_1", "K"]);
        assert_eq!(named(&["k", "k", "k_1"], by_case), ["k", "k_2", "k_1"]);
        let folded = str::to_ascii_lowercase;
        assert_eq!(named(&["k", "K", "k"], folded), ["k", "K_1", "k_2"]);
    }
}

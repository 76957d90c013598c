//! How many copies a keyspace keeps: `3`, or `dc1:3,dc2:2`.

use std::fmt::Write;

/// The most copies of a row in a data centre.
const FACTOR_MAX: u32 = 100;

/// How many copies a new keyspace keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Replication {
    /// So many in every data centre; with `dc` in that one only.
    Everywhere(u32),
    /// So many in each of these data centres.
    In(Vec<(String, u32)>),
}

impl Replication {
    /// Reads the value of option `create`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let factor = |text: &str| {
            let factor = text.parse().ok().filter(|factor| (1..=FACTOR_MAX).contains(factor));
            factor.ok_or_else(|| {
                "create needs a replication factor, 1 to 100, or NAME:FACTOR,NAME:FACTOR".to_owned()
            })
        };
        if !text.contains(':') {
            return factor(text).map(Replication::Everywhere);
        }
        let mut centers: Vec<(String, u32)> = Vec::new();
        for part in text.split(',') {
            let (name, copies) = part.split_once(':').unwrap_or((part, ""));
            if centers.iter().any(|(known, _)| known == name) {
                return Err(format!("create names data centre '{name}' twice"));
            }
            centers.push((name.to_owned(), factor(copies)?));
        }
        Ok(Replication::In(centers))
    }

    /// The same as CQL writes it, for a store whose nodes are asked in `data_center`.
    pub(crate) fn cql(&self, data_center: Option<&str>) -> String {
        let one;
        let centers = match (self, data_center) {
            (Replication::In(centers), _) => centers,
            (Replication::Everywhere(factor), Some(name)) => {
                one = vec![(name.to_owned(), *factor)];
                &one
            }
            (Replication::Everywhere(factor), None) => {
                one = vec![("replication_factor".to_owned(), *factor)];
                &one
            }
        };
        let mut cql = String::from("{'class': 'NetworkTopologyStrategy'");
        for (name, factor) in centers {
            write!(cql, ", '{}': {factor}", name.replace('\'', "''")).expect("a string takes all");
        }
        cql + "}"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_kept_everywhere_in_one_or_in_several_data_centres() {
        let cql = |text: &str, center| Replication::parse(text).unwrap().cql(center);
        let class = "{'class': 'NetworkTopologyStrategy', ";
        assert_eq!(cql("3", None), format!("{class}'replication_factor': 3}}"));
        assert_eq!(cql("3", Some("dc1")), format!("{class}'dc1': 3}}"));
        assert_eq!(cql("dc1:3,o'x:2", None), format!("{class}'dc1': 3, 'o''x': 2}}"));
        for wrong in ["0", "101", "x", "dc1:", "dc1:3,dc2", "dc1:3,dc1:3"] {
            assert!(Replication::parse(wrong).is_err(), "{wrong}");
        }
    }
}

//! The home of a store: the data centre whose majority decides about its rows.
//!
//! Two data centres would decide about one row without knowing of each other. So all processes use
//! the same home, which is fixed when the store is created. A row of the engine's own table names
//! it: part `place`, name `home`. It is empty if the majority of all data centres decides.

use scylla::statement::Consistency;
use scylla::value::CqlValue;
use tonnage_engine::{Deadline, Error, Result};

use crate::address::Address;
use crate::cluster::{Cluster, RetryBackoff, rows};

const WHAT: &str = "the home of a store";
const PART: &str = "place";
const NAME: &[u8] = b"home";

/// Finds the home of the store in `table`, which is settled by the address if the store is new.
/// From then on the connection uses it.
///
/// # Errors
/// `Invalid` for an address that names another home, or asks nodes elsewhere.
pub(crate) async fn resolve(
    cluster: &mut Cluster,
    table: &str,
    is_new: bool,
    address: &Address,
) -> Result<()> {
    let asked = address.home.as_deref();
    // It never changes, so any copy of it will do: the nodes of other data centres may be down.
    let home = match read(cluster, table, Consistency::One).await? {
        Some(home) => home,
        None => {
            // Where all data centres decided about rows so far, a home would come too late.
            let first = asked.filter(|_| is_new).unwrap_or_default();
            put(cluster, table, first).await?
        }
    };
    check(&home, address)?;
    if home.is_empty() {
        return Ok(());
    }
    let state = cluster.session().get_cluster_state();
    let nodes = state.get_nodes_info();
    if !nodes.iter().any(|node| node.datacenter.as_deref() == Some(&home)) {
        return Err(Error::unavailable(format!(
            "the home of the store is data centre '{home}', of which no node is known: check the cluster",
        )));
    }
    cluster.use_home(&home);
    Ok(())
}

fn check(home: &str, address: &Address) -> Result<()> {
    let keyspace = &address.keyspace;
    match (&address.home, &address.data_center) {
        (Some(asked), _) if home.is_empty() => Err(Error::invalid(format!(
            "the store in keyspace {keyspace} was made without a home, so the majority of all data centres decides: leave out home={asked}"
        ))),
        (Some(asked), _) if asked != home => Err(Error::invalid(format!(
            "the home of the store in keyspace {keyspace} is data centre '{home}' since it was made: leave out home={asked}"
        ))),
        (None, Some(asked)) if !home.is_empty() && asked != home => Err(Error::invalid(format!(
            "the home of the store in keyspace {keyspace} is data centre '{home}', whose nodes are asked: leave out dc={asked}"
        ))),
        _ => Ok(()),
    }
}

async fn read(cluster: &Cluster, table: &str, level: Consistency) -> Result<Option<String>> {
    let find = format!("SELECT d FROM {table} WHERE part = ? AND name = ?");
    let find = cluster.prepare(find).await?;
    let answer = cluster.ask_at(level, WHAT, &find, (PART, NAME)).await?;
    let Some(row) = rows::<(Option<Vec<u8>>,)>(WHAT, &answer)?.next() else { return Ok(None) };
    let name = |bytes| {
        String::from_utf8(bytes).map_err(|_| {
            Error::corruption(format!("{table}: the home is not a name: restore the row"))
        })
    };
    row?.0.map(name).transpose()
}

/// Stores a home unless there is one, and answers which there is now.
async fn put(cluster: &Cluster, table: &str, home: &str) -> Result<String> {
    let put = format!("UPDATE {table} SET d = ? WHERE part = ? AND name = ? IF d = null");
    let put = cluster.prepare_conditional(put).await?;
    let values = [
        CqlValue::Blob(home.as_bytes().to_vec()),
        CqlValue::Text(PART.to_owned()),
        CqlValue::Blob(NAME.to_vec()),
    ];
    let mut tries = RetryBackoff::new();
    loop {
        if let Err(failure) = cluster.decide(WHAT, &put, &values, Deadline::NONE).await {
            tries.wait_after(failure).await?;
        }
        if let Some(home) = read(cluster, table, Consistency::Serial).await? {
            return Ok(home);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_must_agree_with_the_home_of_a_store() {
        let checked = |home, options| {
            check(home, &Address::parse(&format!("cassandra://h/k?{options}")).unwrap())
        };
        assert!(checked("", "dc=one").is_ok() && checked("one", "").is_ok());
        assert!(checked("one", "home=one").is_ok() && checked("one", "dc=one").is_ok());
        for (home, options, part) in [
            ("", "home=one", "without a home"),
            ("one", "home=two", "'one'"),
            ("one", "dc=two", "dc=two"),
        ] {
            let error = checked(home, options).unwrap_err();
            assert!(error.message().contains(part), "{error}");
        }
    }
}

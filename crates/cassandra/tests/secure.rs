//! A store on a node that asks for certificates and passwords.

mod cluster;

use cluster::{Nodes, Plan, open_at_last};
use tonnage_cassandra::{Address, CassandraEngine};
use tonnage_engine::{
    Condition, Durability, Engine, Error, ErrorKind, KeyPart, KeyShape, Projection, Rows, Slices,
    WriteBatch,
};

/// Who an address says that it is, and by which files.
struct Caller<'a> {
    nodes: &'a Nodes,
    who: &'a str,
    ca: &'a str,
    has_certificate: bool,
}

impl Caller<'_> {
    fn open(&self) -> Result<CassandraEngine, Error> {
        let file = |name: &str| self.nodes.secrets().file(name).display().to_string();
        let mut url = format!("cassandra://{}@{}/secure?create=1", self.who, self.nodes.hosts());
        if !self.ca.is_empty() {
            url += &format!("&ca={}", file(self.ca));
        }
        if self.has_certificate {
            url += &format!("&cert={}&key={}", file("client.pem"), file("client.key"));
        }
        CassandraEngine::open(&Address::parse(&url).unwrap())
    }
}

#[test]
#[ignore = "takes a minute, and a node: make cluster-test"]
fn only_who_shows_a_certificate_and_a_password_opens_a_store() {
    let plan = Plan { data_centers: &["datacenter1"], is_secure: true };
    let Some(nodes) = Nodes::start_as(plan) else { return };
    let known =
        Caller { nodes: &nodes, who: "cassandra:cassandra", ca: "ca.pem", has_certificate: true };
    let engine = open_at_last(|| known.open());
    let space = engine.create_space("rows", &KeyShape::new([KeyPart::Terminated])).unwrap();
    let mut batch = WriteBatch::new(space);
    batch.put(b"key\0\x01", b"value", 0, Condition::IfAbsent);
    assert!(engine.write(&batch, Durability::Write).unwrap().version().is_some());
    let (keys, mut rows) = (Slices::from_iter([&b"key\0\x01"[..]]), Rows::new());
    engine.read(space, &keys, Projection::KeysAndValues, &mut rows).unwrap();
    assert_eq!(rows.values.get(0), b"value");

    let strangers = [
        Caller { who: "cassandra:wrong", ..known },
        Caller { ca: "stranger.pem", ..known },
        Caller { has_certificate: false, ..known },
        Caller { ca: "", has_certificate: false, ..known },
    ];
    for stranger in strangers {
        let error = stranger.open().err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
        assert!(error.message().contains("password and certificates"), "{error}");
        assert!(!error.message().contains("wrong"), "{error}");
    }
}
